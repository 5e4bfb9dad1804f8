"""References of the recipients of a list, and exports of messages."""

from alembic import op

revision = "0005"
down_revision = "0004"
compatible = True

SCHEMA = """
CREATE TABLE recipient_reference (
    message_id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_recipient_reference PRIMARY KEY (message_id)
);
CREATE INDEX ix_recipient_reference_account_id ON recipient_reference (account_id, reference, message_id);
COMMENT ON TABLE recipient_reference IS 'references that recipients of lists have of their own, by message';
CREATE TABLE message_export (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    format TEXT NOT NULL,
    query JSONB NOT NULL,
    position TEXT,
    chunks INTEGER DEFAULT 0 NOT NULL,
    rows BIGINT DEFAULT 0 NOT NULL,
    reached_at TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_message_export PRIMARY KEY (id),
    CONSTRAINT fk_message_export_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_message_export_account_id_created_at ON message_export (account_id, created_at);
CREATE INDEX ix_message_export_open ON message_export (created_at) WHERE finished_at IS NULL;
COMMENT ON TABLE message_export IS 'a file of an account''s messages, which is kept for a week';
COMMENT ON COLUMN message_export.query IS 'the filters';
COMMENT ON COLUMN message_export.position IS 'where the next page begins: shared.messages.search';
COMMENT ON COLUMN message_export.chunks IS 'number of chunks';
COMMENT ON COLUMN message_export.reached_at IS 'when the last message found was accepted';
COMMENT ON COLUMN message_export.finished_at IS 'null: its file is being made';
CREATE TABLE export_chunk (
    export_id UUID NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT pk_export_chunk PRIMARY KEY (export_id, number),
    CONSTRAINT fk_export_chunk_export_id FOREIGN KEY(export_id) REFERENCES message_export (id)
);
COMMENT ON TABLE export_chunk IS 'a part of an export''s file, in whole lines';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
