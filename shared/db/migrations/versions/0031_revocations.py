"""Revoked tokens are read by when they were revoked, and counted by key."""

from alembic import op

revision = "0031"
down_revision = "0030"

SCHEMA = """
ALTER TABLE revoked_token ADD COLUMN api_key_id TEXT;
COMMENT ON COLUMN revoked_token.api_key_id IS 'whose token it was; null: revoked before that was counted';
CREATE INDEX ix_revoked_token_revoked_at ON revoked_token (revoked_at);
CREATE INDEX ix_revoked_token_api_key_id ON revoked_token (api_key_id);
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Remove them."""
    op.execute("DROP INDEX ix_revoked_token_revoked_at")
    op.execute("ALTER TABLE revoked_token DROP COLUMN api_key_id")
