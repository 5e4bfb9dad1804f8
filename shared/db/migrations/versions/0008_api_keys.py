"""API keys get a name, limits of where and how often they may be used, and two live secrets while they are rotated."""

from alembic import op

revision = "0008"
down_revision = "0007"

SCHEMA = """
ALTER TABLE api_key
    ADD COLUMN name TEXT,
    ADD COLUMN allowed_ips TEXT[],
    ADD COLUMN requests_per_second INTEGER,
    ADD COLUMN generation INTEGER DEFAULT 0 NOT NULL,
    ADD COLUMN previous_hash BYTEA,
    ADD COLUMN previous_until TIMESTAMP WITH TIME ZONE,
    ADD COLUMN last_used_at TIMESTAMP WITH TIME ZONE,
    ADD CONSTRAINT ck_api_key_requests_per_second CHECK (requests_per_second > 0);
COMMENT ON COLUMN api_key.allowed_ips IS 'networks from which alone it may be used; null: from everywhere';
COMMENT ON COLUMN api_key.requests_per_second IS 'of this key, at most; null: as many as its account';
COMMENT ON COLUMN api_key.generation IS 'how often it was rotated; a token names that of the secret it was got with';
COMMENT ON COLUMN api_key.previous_hash IS 'the secret before, which lives until previous_until';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
