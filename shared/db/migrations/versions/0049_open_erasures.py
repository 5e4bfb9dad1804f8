"""An index of the phones whose erasure is open: nothing is sent to them."""

from alembic import op

revision = "0049"
down_revision = "0048"

compatible = True

SCHEMA = """
CREATE INDEX ix_erasure_account_id_phone ON erasure (account_id, phone) WHERE completed_at IS NULL;
"""


def upgrade() -> None:
    """Add it."""
    op.execute(SCHEMA)
