"""A send remembers whether its owner had paused it when it was held."""

from alembic import op

revision = "0057"
down_revision = "0056"

compatible = True

SCHEMA = """
ALTER TABLE send ADD COLUMN was_paused boolean;
COMMENT ON COLUMN send.was_paused IS 'whether its owner had paused it when it was held; null: not held';
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(SCHEMA)
