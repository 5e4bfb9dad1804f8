"""Reports of sends that came by Kannel's API: by GET, for the statuses that each asked for."""

from alembic import op

revision = "0009"
down_revision = "0008"
compatible = True

SCHEMA = """
ALTER TABLE send ADD COLUMN dlr_mask SMALLINT;
COMMENT ON COLUMN send.dlr_mask IS
    'of a send by Kannel''s API: the statuses that its callback_url gets by GET; null: all events by POST';
"""


def upgrade() -> None:
    op.execute(SCHEMA)
