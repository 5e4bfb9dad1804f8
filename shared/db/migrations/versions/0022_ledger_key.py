"""One index of the ledger less: its entries are asked for by account or by subject, never by their number alone."""

from alembic import op

revision = "0022"
down_revision = "0021"

SCHEMA = """
ALTER TABLE ledger DROP CONSTRAINT pk_ledger;
ALTER TABLE ledger ADD CONSTRAINT pk_ledger PRIMARY KEY (account_id, id);
DROP INDEX ix_ledger_account_id_id;
"""
"""Building the key reads the table once, about a second for each million entries. Meanwhile nobody else reads it or
posts to it."""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
