"""Which installation this is and how far it has come, for the guard; the ledger's owner may only read and add."""

from alembic import op

revision = "0003"
down_revision = "0002"

SCHEMA = """
CREATE TABLE installation (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    mark BIGINT DEFAULT 0 NOT NULL,
    looked_at TIMESTAMP WITH TIME ZONE,
    checked TEXT,
    held_since TIMESTAMP WITH TIME ZONE,
    behind BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_installation PRIMARY KEY (id)
);
COMMENT ON TABLE installation IS 'one row: which installation this is, and how far it has come';
COMMENT ON COLUMN installation.mark IS 'rises each second while workers run';
COMMENT ON COLUMN installation.checked IS 'the incarnation of the database whose mark was compared with those outside';
COMMENT ON COLUMN installation.held_since IS 'nothing is sent: the database was found to be older than it once was';
COMMENT ON COLUMN installation.behind IS 'how far the mark was behind';
INSERT INTO installation DEFAULT VALUES;
REVOKE UPDATE, DELETE, TRUNCATE ON ledger FROM CURRENT_USER;
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
