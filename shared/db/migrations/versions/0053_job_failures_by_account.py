"""An index of failed jobs by account: after one has failed, the account's other jobs of its kind pause."""

from alembic import op

revision = "0053"
down_revision = "0052"

compatible = True

SCHEMA = """
CREATE INDEX ix_job_failure_account_id ON job_failure (kind, account_id, failed_at);
"""


def upgrade() -> None:
    """Add it."""
    op.execute(SCHEMA)
