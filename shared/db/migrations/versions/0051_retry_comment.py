"""A comment that says what `batch.retry` holds: messages in doubt may be among them, and messages never tried."""

from alembic import op

revision = "0051"
down_revision = "0050"

compatible = True

SCHEMA = """
COMMENT ON COLUMN batch.retry IS 'indexes below next_index that are sent first';
"""


def upgrade() -> None:
    """Change the comment."""
    op.execute(SCHEMA)
