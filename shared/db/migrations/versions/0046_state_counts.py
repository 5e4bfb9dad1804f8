"""What the installation has, counted by one process for all that report it."""

from alembic import op

revision = "0046"
down_revision = "0045"

compatible = True

SCHEMA = """
CREATE TABLE state_count (
    id smallint DEFAULT 1 NOT NULL,
    due_at timestamptz NOT NULL,
    counted_at timestamptz,
    counts jsonb,
    CONSTRAINT pk_state_count PRIMARY KEY (id),
    CONSTRAINT ck_state_count_single CHECK (id = 1)
);
COMMENT ON TABLE state_count IS 'one row: what GET /metrics counts in tables that grow';
COMMENT ON COLUMN state_count.due_at IS 'when it is counted again';
COMMENT ON COLUMN state_count.counted_at IS 'null: it is being counted for the first time';
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)
