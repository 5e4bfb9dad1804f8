"""A count for the end of `batch.retry`: messages refused for their own sake, which wait for the rest of their batch."""

from alembic import op

revision = "0061"
down_revision = "0060"

compatible = True

SCHEMA = """
ALTER TABLE batch ADD COLUMN postponed smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN batch.postponed IS
    'how many at the end of retry were refused for their own sake and wait for the others';
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(SCHEMA)
