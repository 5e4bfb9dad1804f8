"""Rates of sender IDs and prefixes: which the file has, and what the operator changed."""

from alembic import op

revision = "0020"
down_revision = "0019"

SCHEMA = """
CREATE TABLE carrier_limit (
    name TEXT NOT NULL,
    rate DOUBLE PRECISION NOT NULL,
    changed DOUBLE PRECISION,
    reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_carrier_limit PRIMARY KEY (name),
    CONSTRAINT ck_carrier_limit_rate CHECK (rate > 0 AND changed >= 0)
);
COMMENT ON TABLE carrier_limit IS 'rates of sender IDs and prefixes';
COMMENT ON COLUMN carrier_limit.name IS 'such as: sender ACME';
COMMENT ON COLUMN carrier_limit.rate IS 'segments per second, as the file says';
COMMENT ON COLUMN carrier_limit.changed IS 'the same, as the operator says; 0 lifts it, null is what the file says';
COMMENT ON COLUMN carrier_limit.reported_at IS 'when a worker last said that it is in the file';
"""


def upgrade() -> None:
    """Add it."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Remove it."""
    op.execute("DROP TABLE carrier_limit")
