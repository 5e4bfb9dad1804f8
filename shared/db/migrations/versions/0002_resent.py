"""Counts, for each send, the messages that were submitted again though an earlier submit had no answer."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """A counter that begins at 0 is added without a rewrite of the table."""
    op.execute("ALTER TABLE send ADD COLUMN resent INTEGER DEFAULT 0 NOT NULL")
    op.execute("CREATE INDEX ix_send_resent ON send (id) WHERE resent > 0")
