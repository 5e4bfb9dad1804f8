"""When opt-outs came, by transaction: workers look between two windows whether there are new ones."""

from alembic import op

revision = "0030"
down_revision = "0029"

SCHEMA = """
CREATE TABLE suppression_change (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT NOT NULL,
    xid BIGINT DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_suppression_change PRIMARY KEY (id)
);
CREATE INDEX ix_suppression_change_account_id_xid ON suppression_change (account_id, xid);
COMMENT ON TABLE suppression_change IS 'opt-outs that came of late, one row for those that came together';
"""


def upgrade() -> None:
    """Add it."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Remove it."""
    op.execute("DROP TABLE suppression_change")
