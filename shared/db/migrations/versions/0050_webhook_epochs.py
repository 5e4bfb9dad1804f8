"""Larger epochs of webhooks: each claim and each release raises them, and they must never end."""

from alembic import op

revision = "0050"
down_revision = "0049"

compatible = True

SCHEMA = """
ALTER TABLE webhook ALTER COLUMN epoch TYPE BIGINT;
"""


def upgrade() -> None:
    """Change the column. The table is small."""
    op.execute(SCHEMA)
