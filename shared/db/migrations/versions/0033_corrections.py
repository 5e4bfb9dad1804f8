"""Reversals of top-ups; which SECRET_KEY a webhook's secret was made with."""

from alembic import op

revision = "0033"
down_revision = "0032"

SCHEMA = """
ALTER TABLE webhook ADD COLUMN secret_key_id BYTEA;
COMMENT ON COLUMN webhook.secret_key_id IS 'of the SECRET_KEY that it was made with; null: an older release did';
ALTER TABLE ledger DROP CONSTRAINT ck_ledger_double_entry;
ALTER TABLE ledger ADD CONSTRAINT ck_ledger_double_entry CHECK ((kind, debit, credit) IN (
    ('topup', 'funding', 'available'), ('reserve', 'available', 'reserved'), ('capture', 'reserved', 'revenue'),
    ('release', 'reserved', 'available'), ('refund', 'revenue', 'available'), ('reversal', 'available', 'funding')
)) NOT VALID;
"""
"""Not validated: that would read the whole ledger, and all that is in it fulfils the narrower one before."""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
