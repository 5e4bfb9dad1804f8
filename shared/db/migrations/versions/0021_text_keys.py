"""Keys of the texts that are encrypted in the database."""

from alembic import op

revision = "0021"
down_revision = "0020"

SCHEMA = """
CREATE TABLE text_key (
    id TEXT NOT NULL,
    proof TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_text_key PRIMARY KEY (id)
);
COMMENT ON TABLE text_key IS 'keys that have encrypted texts: a process that lacks one does not work';
COMMENT ON COLUMN text_key.proof IS 'a known text, encrypted with the key';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
