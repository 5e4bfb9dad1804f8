"""The request that made a send, if it is logged."""

from alembic import op

revision = "0043"
down_revision = "0037"

SCHEMA = """
ALTER TABLE send ADD COLUMN request_id text;
COMMENT ON COLUMN send.request_id IS 'the request that made it, if that is logged: workers then log its batches';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
