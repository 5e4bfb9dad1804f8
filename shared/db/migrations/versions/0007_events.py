"""Events, packed, and the accounts that they are written for."""

from alembic import op

revision = "0007"
down_revision = "0006"

SCHEMA = """
CREATE TABLE event (
    id UUID NOT NULL,
    xid BIGINT DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
    account_id BIGINT NOT NULL,
    type TEXT NOT NULL,
    send_id UUID,
    batch_id UUID,
    indexes SMALLINT[],
    error TEXT,
    data JSON,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_event PRIMARY KEY (id)
);
CREATE INDEX ix_event_account_id_xid_id ON event (account_id, xid, id);
COMMENT ON TABLE event IS 'one row for messages that moved together; kept for some days';
COMMENT ON COLUMN event.id IS 'its last 16 bits are zero, and there the places of its events';
COMMENT ON COLUMN event.xid IS 'the order for readers';
COMMENT ON COLUMN event.indexes IS 'the messages of the batch, one event each; null: one event';
CREATE TABLE listener (
    account_id BIGINT NOT NULL,
    pulled_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_listener PRIMARY KEY (account_id),
    CONSTRAINT fk_listener_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON TABLE listener IS 'accounts whose events are written';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
