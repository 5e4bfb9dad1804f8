"""The table `change` is now `audit_log`; its columns `who` and `what` are `actor` and `action`.

A view with the old names serves processes of the previous release. Its triggers never fire, as those of the table do:
the audit of the previous release only looks for their names.
"""

from alembic import op

from shared.db.migrations.grants import same_grants

revision = "0055"
down_revision = "0054"

compatible = True

SCHEMA = """
ALTER TABLE change RENAME TO audit_log;
ALTER TABLE audit_log RENAME who TO actor;
ALTER TABLE audit_log RENAME what TO action;
ALTER TABLE audit_log RENAME CONSTRAINT pk_change TO pk_audit_log;
ALTER TABLE audit_log RENAME CONSTRAINT fk_change_account_id TO fk_audit_log_account_id;
ALTER INDEX ix_change_account_id_id RENAME TO ix_audit_log_account_id_id;
ALTER SEQUENCE change_id_seq RENAME TO audit_log_id_seq;
ALTER TRIGGER change_append_only ON audit_log RENAME TO audit_log_append_only;
ALTER TRIGGER change_no_truncate ON audit_log RENAME TO audit_log_no_truncate;
COMMENT ON TABLE audit_log IS 'changes of rights and money; append-only: a trigger refuses UPDATE, DELETE and TRUNCATE';

CREATE VIEW change AS
    SELECT id, at, account_id, actor AS who, action AS what, subject, before, after, reason, request_id, address
      FROM audit_log;
COMMENT ON VIEW change IS 'audit_log as processes of the previous release know it';
REVOKE UPDATE, DELETE, TRUNCATE ON change FROM CURRENT_USER;
CREATE TRIGGER change_append_only BEFORE UPDATE OR DELETE ON change
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER change_no_truncate BEFORE DELETE ON change FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


def upgrade() -> None:
    """Rename them."""
    op.execute(SCHEMA)
    op.execute(same_grants("audit_log", "change", "SELECT", "INSERT"))
