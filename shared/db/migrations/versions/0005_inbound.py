"""Messages from phones, the parts of long ones, and whose sender ID it is that they were sent to."""

from alembic import op

revision = "0005"
down_revision = "0004"

SCHEMA = """
CREATE TABLE inbound (
    id UUID NOT NULL,
    account_id BIGINT,
    carrier TEXT NOT NULL,
    identity TEXT,
    phone TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    message TEXT NOT NULL,
    segments SMALLINT NOT NULL,
    missing SMALLINT NOT NULL,
    keyword TEXT,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_inbound PRIMARY KEY (id),
    CONSTRAINT ck_inbound_keyword CHECK (keyword IN ('stop', 'start')),
    CONSTRAINT uq_inbound_carrier_identity UNIQUE (carrier, identity),
    CONSTRAINT fk_inbound_account_id FOREIGN KEY (account_id) REFERENCES account (id)
);
CREATE INDEX ix_inbound_account_id_id ON inbound (account_id, id);
CREATE INDEX ix_inbound_account_id_phone_id ON inbound (account_id, phone, id);
COMMENT ON COLUMN inbound.account_id IS 'null: nobody has the number it was sent to';
COMMENT ON COLUMN inbound.identity IS 'the carrier''s own id of it, where it has one';
COMMENT ON COLUMN inbound.phone IS 'who sent it: nearly always a phone';
COMMENT ON COLUMN inbound.sender_id IS 'the number that it was sent to';
COMMENT ON COLUMN inbound.missing IS 'segments that never came';
CREATE TABLE inbound_part (
    carrier TEXT NOT NULL,
    phone TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    reference INTEGER NOT NULL,
    total SMALLINT NOT NULL,
    number SMALLINT NOT NULL,
    text BYTEA NOT NULL,
    whole BOOLEAN DEFAULT false NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_inbound_part PRIMARY KEY (carrier, phone, sender_id, reference, total, number),
    CONSTRAINT ck_inbound_part_number CHECK (number BETWEEN 1 AND total)
);
CREATE INDEX ix_inbound_part_received_at ON inbound_part (received_at);
COMMENT ON TABLE inbound_part IS 'parts of long messages: until all have come, and a little longer, as a carrier may repeat them';
COMMENT ON COLUMN inbound_part.text IS 'UTF-16, as a part may end within a character';
COMMENT ON COLUMN inbound_part.whole IS 'the message has been kept';
CREATE INDEX ix_sender_id_name ON sender_id (lower(sender_id));
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
