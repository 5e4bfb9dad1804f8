"""The trace context of the request that made a send, if that is traced."""

from alembic import op

revision = "0042"
down_revision = "0041"

compatible = True

SCHEMA = """
ALTER TABLE send ADD COLUMN traceparent text;
COMMENT ON COLUMN send.traceparent IS 'W3C context of the request that made it, if that is traced';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
