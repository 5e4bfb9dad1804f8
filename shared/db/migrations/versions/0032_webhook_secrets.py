"""Several secrets of a webhook before its newest may be valid: another rotation ends none of them early."""

from alembic import op

revision = "0032"
down_revision = "0031"

SCHEMA = """
ALTER TABLE webhook ADD COLUMN oldest_version SMALLINT;
COMMENT ON COLUMN webhook.oldest_version IS 'null: the one before secret_version';
COMMENT ON COLUMN webhook.previous_until IS 'until then the secrets from oldest_version on sign posts, too';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
