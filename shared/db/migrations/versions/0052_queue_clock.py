"""A clock of fair order that does not follow the time of day.

Releases before it begin at the time of day where nothing waits. The clock starts there, so it is ahead of all that they
queued.
"""

from alembic import op

revision = "0052"
down_revision = "0051"

compatible = True

SCHEMA = """
CREATE TABLE queue_clock (
    singleton BOOLEAN DEFAULT true NOT NULL,
    turn BIGINT NOT NULL,
    CONSTRAINT pk_queue_clock PRIMARY KEY (singleton),
    CONSTRAINT ck_queue_clock_singleton CHECK (singleton)
);
COMMENT ON TABLE queue_clock IS 'one row: where fair order is while no messages wait';
COMMENT ON COLUMN queue_clock.turn IS 'in virtual microseconds';
INSERT INTO queue_clock (turn) VALUES (extract(epoch FROM clock_timestamp())::bigint * 1000000);
"""


def upgrade() -> None:
    """Add the clock."""
    op.execute(SCHEMA)
