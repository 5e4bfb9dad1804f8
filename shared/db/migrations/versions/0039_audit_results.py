"""Results of audits."""

from alembic import op

revision = "0039"
down_revision = "0038"

SCHEMA = """
CREATE TABLE audit_result (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    began_at     TIMESTAMPTZ NOT NULL,
    completed_at TIMESTAMPTZ NOT NULL,
    "full"       BOOLEAN NOT NULL,
    breaches     JSONB NOT NULL,
    frozen       BIGINT[] NOT NULL
);
COMMENT ON TABLE audit_result IS 'results of audits; the newest are kept';
COMMENT ON COLUMN audit_result."full" IS 'whether everything was checked, or open and recent sends';
COMMENT ON COLUMN audit_result.frozen IS 'accounts that were frozen because of the breaches';
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Remove them."""
    op.execute("DROP TABLE audit_result")
