"""How far the clock of each worker's machine is ahead of the database's."""

from alembic import op

revision = "0037"
down_revision = "0036"

SCHEMA = """
ALTER TABLE lease ADD COLUMN clock_offset double precision;
COMMENT ON COLUMN lease.clock_offset IS 'seconds by which the clock of the holder''s machine is ahead of the database''s';
"""


def upgrade() -> None:
    op.execute(SCHEMA)
