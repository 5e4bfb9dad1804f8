"""An SMPP server for customers: who may bind, who has, and how a send came."""

from alembic import op

revision = "0008"
down_revision = "0007"
compatible = True

SCHEMA = """
CREATE TABLE smpp_credential (
    id UUID NOT NULL,
    system_id TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    password_hash BYTEA NOT NULL,
    networks CIDR[],
    max_binds SMALLINT NOT NULL,
    window_size SMALLINT NOT NULL,
    rate INTEGER,
    alphabet TEXT NOT NULL,
    default_sender TEXT,
    generation INTEGER DEFAULT 0 NOT NULL,
    xid BIGINT NOT NULL,
    event_id UUID NOT NULL,
    epoch BIGINT DEFAULT 0 NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_smpp_credential PRIMARY KEY (id),
    CONSTRAINT uq_smpp_credential_system_id UNIQUE (system_id),
    CONSTRAINT ck_smpp_credential_system_id CHECK (length(system_id) BETWEEN 1 AND 15),
    CONSTRAINT ck_smpp_credential_limits CHECK (max_binds > 0 AND window_size > 0 AND rate > 0),
    CONSTRAINT ck_smpp_credential_alphabet CHECK (alphabet IN ('gsm', 'latin1', 'utf8')),
    CONSTRAINT fk_smpp_credential_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_smpp_credential_account_id ON smpp_credential (account_id);
COMMENT ON COLUMN smpp_credential.networks IS 'the only networks from which it may bind; null: all';
COMMENT ON COLUMN smpp_credential.window_size IS 'unanswered PDUs of a bind, in each direction';
COMMENT ON COLUMN smpp_credential.rate IS 'submits per second; null: the account''s requests per second';
COMMENT ON COLUMN smpp_credential.alphabet IS 'of data_coding 0';
COMMENT ON COLUMN smpp_credential.default_sender IS 'the sender ID of submits without a source address';
COMMENT ON COLUMN smpp_credential.generation IS 'how often its password was rotated, which ends its binds';
COMMENT ON COLUMN smpp_credential.xid IS 'position in the account''s stream: earlier events were delivered';
COMMENT ON COLUMN smpp_credential.epoch IS 'fencing token: rises with each claim';
COMMENT ON COLUMN smpp_credential.updated_at IS 'when its position was moved last';
CREATE TABLE smpp_bind (
    id UUID NOT NULL,
    credential_id UUID NOT NULL,
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    address TEXT NOT NULL,
    bound_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    alive_until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_smpp_bind PRIMARY KEY (id),
    CONSTRAINT ck_smpp_bind_kind CHECK (kind IN ('transmitter', 'receiver', 'transceiver')),
    CONSTRAINT fk_smpp_bind_credential_id FOREIGN KEY(credential_id) REFERENCES smpp_credential (id)
);
CREATE INDEX ix_smpp_bind_credential_id ON smpp_bind (credential_id);
COMMENT ON TABLE smpp_bind IS 'open binds';
COMMENT ON COLUMN smpp_bind.generation IS 'of the password that it was bound with';
COMMENT ON COLUMN smpp_bind.alive_until IS 'renewed by its process';
ALTER TABLE send ADD COLUMN smpp JSONB;
COMMENT ON COLUMN send.smpp IS 'of a send over SMPP: which receipts are wanted, its reference, and a part as it came';
"""


def upgrade() -> None:
    op.execute(SCHEMA)
