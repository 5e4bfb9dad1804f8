"""No foreign keys where both rows are written by the statement that accepts a send: the audit looks for orphans."""

from alembic import op

revision = "0015"
down_revision = "0014"

SCHEMA = """
ALTER TABLE send DROP CONSTRAINT fk_send_account_id;
ALTER TABLE batch DROP CONSTRAINT fk_batch_send_id;
ALTER TABLE ledger DROP CONSTRAINT fk_ledger_account_id;
ALTER TABLE idempotency DROP CONSTRAINT fk_idempotency_account_id;
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
