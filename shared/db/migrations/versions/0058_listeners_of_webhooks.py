"""Accounts with a webhook get events: previous releases could forget that a webhook which replaced another listens."""

from alembic import op

revision = "0058"
down_revision = "0057"

compatible = True

CHANGE = """
INSERT INTO listener (account_id)
SELECT DISTINCT account_id FROM webhook WHERE state <> 'deleted' ORDER BY account_id
ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    """Add the missing ones."""
    op.execute(CHANGE)
