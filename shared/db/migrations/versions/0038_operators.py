"""Operator keys, the revocations of their tokens, and closed accounts."""

from alembic import op

revision = "0038"
down_revision = "0037"

SCHEMA = """
CREATE TABLE operator_key (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    secret_hash  BYTEA NOT NULL,
    scopes       TEXT[] NOT NULL,
    allowed_ips  TEXT[],
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at   TIMESTAMPTZ,
    revoked_at   TIMESTAMPTZ,
    last_used_at TIMESTAMPTZ
);
COMMENT ON TABLE operator_key IS 'keys of the operator API; they belong to the installation';
COMMENT ON COLUMN operator_key.allowed_ips IS 'the only networks from which it may be used; null: all';
COMMENT ON COLUMN operator_key.last_used_at IS 'when it was last exchanged for a token';
CREATE TABLE operator_revocation (
    holder     TEXT PRIMARY KEY,
    revoked_at TIMESTAMPTZ NOT NULL
);
COMMENT ON TABLE operator_revocation IS 'revocations of operator tokens; kept until the tokens have expired';
COMMENT ON COLUMN operator_revocation.holder IS 'an operator key, a person, or a session of one';
COMMENT ON COLUMN operator_revocation.revoked_at IS 'operator tokens issued to the holder before are revoked';
ALTER TABLE account DROP CONSTRAINT ck_account_state;
ALTER TABLE account ADD CONSTRAINT ck_account_state
    CHECK (state IN ('active', 'suspended', 'frozen', 'closed')) NOT VALID;
ALTER TABLE account VALIDATE CONSTRAINT ck_account_state;
"""


def upgrade() -> None:
    """Add them."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Remove them. Closed accounts become suspended."""
    op.execute("UPDATE account SET state = 'suspended' WHERE state = 'closed'")
    op.execute("ALTER TABLE account DROP CONSTRAINT ck_account_state")
    op.execute("ALTER TABLE account ADD CONSTRAINT ck_account_state CHECK (state IN ('active', 'suspended', 'frozen'))")
    op.execute("DROP TABLE operator_revocation")
    op.execute("DROP TABLE operator_key")
