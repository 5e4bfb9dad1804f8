"""Gives the view that has a table's former name the grants of the table."""

GRANT = """
DO $$
DECLARE granted record;
BEGIN
    FOR granted IN
        SELECT r.privilege_type, coalesce(quote_ident(g.rolname), 'PUBLIC') AS role
          FROM pg_class c, aclexplode(c.relacl) AS r LEFT JOIN pg_roles g ON g.oid = r.grantee
         WHERE c.oid = '{table}'::regclass AND r.grantee <> c.relowner AND r.privilege_type IN ({privileges})
    LOOP
        EXECUTE format('GRANT %s ON {view} TO %s', granted.privilege_type, granted.role);
    END LOOP;
END $$;
"""
"""Grants on the view what other roles than the owner may do with the table, as far as it is one of `privileges`."""


def same_grants(table: str, view: str, *privileges: str) -> str:
    """SQL that grants these privileges on the view to the roles that have them on the table."""
    names = ", ".join(f"'{privilege}'" for privilege in privileges)
    return GRANT.format(table=table, view=view, privileges=names)
