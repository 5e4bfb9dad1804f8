"""A repeated request is answered to the API key that made the first one, and no kept answer leads to a secret.

Of answers from before it is not known who made the request. Those about API keys and webhooks are told to nobody: their
fingerprint becomes one that no request has.
"""

from alembic import op

revision = "0023"
down_revision = "0022"

SCHEMA = """
UPDATE idempotency i SET answer = '{}', fingerprint = decode(repeat('00', 32), 'hex')
  FROM account a
 WHERE i.account_id = a.id AND i.path IN ('/api/v1/api-keys', '/api/v1/webhooks');
UPDATE idempotency i SET answer = '{}', fingerprint = decode(repeat('00', 32), 'hex')
  FROM api_key k
 WHERE i.account_id = k.account_id AND i.path = '/api/v1/api-keys/' || k.id || '/rotate';
UPDATE idempotency i SET answer = '{}', fingerprint = decode(repeat('00', 32), 'hex')
  FROM webhook w
 WHERE i.account_id = w.account_id AND i.path = '/api/v1/webhooks/' || w.id || '/rotate-secret';
ALTER TABLE idempotency ADD COLUMN api_key_id TEXT;
COMMENT ON COLUMN idempotency.api_key_id IS 'who made the request; null: it was before this was kept';
"""
"""The table may be large: the rows are found by its key, and the column is added without a rewrite."""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
