"""The parts of a long inbound message are kept as octets, with their charset, and decoded once they are joined."""

from alembic import op

revision = "0060"
down_revision = "0059"

compatible = True

SCHEMA = """
ALTER TABLE inbound_part ADD COLUMN charset text;
COMMENT ON COLUMN inbound_part.charset IS 'of the octets of which text has the hex; null: text is the text';
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(SCHEMA)
