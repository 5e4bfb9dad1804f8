"""The table `import_piece` is now `import_chunk`.

A view with the old name serves processes of the previous release, which delete by `ctid`.
"""

from alembic import op

revision = "0056"
down_revision = "0055"

compatible = True

SCHEMA = """
ALTER TABLE import_piece RENAME TO import_chunk;
ALTER TABLE import_chunk RENAME CONSTRAINT pk_import_piece TO pk_import_chunk;
ALTER TABLE import_chunk RENAME CONSTRAINT fk_import_piece_import_id TO fk_import_chunk_import_id;
COMMENT ON COLUMN contact_import.pieces IS 'number of chunks';
COMMENT ON COLUMN contact_import.next_piece IS 'the chunk to import next';

CREATE VIEW import_piece AS SELECT ctid, import_id, number, content FROM import_chunk;
COMMENT ON VIEW import_piece IS 'import_chunk as processes of the previous release know it';

DO $$
DECLARE granted record;
BEGIN
    FOR granted IN
        SELECT r.privilege_type, coalesce(quote_ident(g.rolname), 'PUBLIC') AS role
          FROM pg_class c, aclexplode(c.relacl) AS r LEFT JOIN pg_roles g ON g.oid = r.grantee
         WHERE c.oid = 'import_chunk'::regclass AND r.grantee <> c.relowner
           AND r.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE format('GRANT %s ON import_piece TO %s', granted.privilege_type, granted.role);
    END LOOP;
END $$;
"""


def upgrade() -> None:
    """Rename it."""
    op.execute(SCHEMA)
