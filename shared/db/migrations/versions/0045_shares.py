"""Whose turn it is with background jobs, and the indexes of keys and webhooks."""

from alembic import op

revision = "0045"
down_revision = "0044"

compatible = True

SCHEMA = """
CREATE TABLE job_turn (
    kind text NOT NULL,
    account_id bigint NOT NULL,
    taken_at timestamptz NOT NULL,
    CONSTRAINT pk_job_turn PRIMARY KEY (kind, account_id),
    CONSTRAINT fk_job_turn_account_id FOREIGN KEY (account_id) REFERENCES account (id)
);
COMMENT ON TABLE job_turn IS 'whose turn it is with background jobs: worker/jobs/turns.py';
COMMENT ON COLUMN job_turn.taken_at IS 'when a job of the account was begun last';
CREATE INDEX ix_api_key_live ON api_key (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX ix_webhook_live ON webhook (account_id, id) WHERE state <> 'deleted';
CREATE INDEX ix_api_key_revoked_at ON api_key (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX ix_api_key_expires_at ON api_key (expires_at) WHERE expires_at IS NOT NULL;
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)
