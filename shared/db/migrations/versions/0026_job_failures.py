"""Jobs that failed, so that they are tried again later and later, and set aside in the end."""

from alembic import op

revision = "0026"
down_revision = "0025"

SCHEMA = """
CREATE TABLE job_failure (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id BIGINT,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    retry_at TIMESTAMP WITH TIME ZONE NOT NULL,
    set_aside_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_job_failure PRIMARY KEY (kind, subject)
);
COMMENT ON TABLE job_failure IS 'jobs that failed and did not succeed since: shared/job_failures.py';
COMMENT ON COLUMN job_failure.subject IS 'the id of what failed';
COMMENT ON COLUMN job_failure.failures IS 'in a row';
COMMENT ON COLUMN job_failure.error IS 'its kind and place; nothing of the data';
COMMENT ON COLUMN job_failure.set_aside_at IS 'since when it waits for the operator';
"""


def upgrade() -> None:
    """Add it."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Remove it."""
    op.execute("DROP TABLE job_failure")
