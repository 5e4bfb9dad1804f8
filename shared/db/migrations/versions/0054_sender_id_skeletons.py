"""Finds the sender IDs that look like another one, without reading those of all accounts."""

from alembic import op

revision = "0054"
down_revision = "0053"

compatible = True

SCHEMA = """
CREATE INDEX ix_sender_id_skeleton ON sender_id
    (replace(replace(translate(regexp_replace(sender_id, '[^A-Za-z0-9]', '', 'g'),
                               'ABCDEFGHIJKLMNOPQRSTUVWXYZ01i582', 'abcdefghljklmnopqrstuvwxyzollsbz'),
                     'rn', 'm'), 'vv', 'w'));
"""


def upgrade() -> None:
    """Add the index."""
    op.execute(SCHEMA)
