"""The first schema: accounts, money, contacts, sends, batches, messages, receipts."""

from alembic import op

revision = "0001"
down_revision = None

SCHEMA = r"""
CREATE TYPE message_status AS ENUM ('scheduled', 'queued', 'sending', 'in_doubt', 'sent', 'rejected', 'failed', 'canceled', 'expired', 'undelivered', 'delivered');
CREATE TYPE send_state AS ENUM ('scheduled', 'expanding', 'queued', 'sending', 'paused', 'held', 'completed', 'canceled');
CREATE TYPE batch_state AS ENUM ('waiting', 'queued', 'sending', 'paused', 'held', 'done', 'canceled', 'expired');
CREATE TABLE account (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    state TEXT DEFAULT 'active' NOT NULL,
    available BIGINT DEFAULT 0 NOT NULL,
    reserved BIGINT DEFAULT 0 NOT NULL,
    low_balance_threshold BIGINT DEFAULT 100 NOT NULL,
    weight INTEGER DEFAULT 1 NOT NULL,
    turns BIGINT[] DEFAULT '{0,0,0}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_account PRIMARY KEY (id),
    CONSTRAINT ck_account_available CHECK (available >= 0),
    CONSTRAINT ck_account_reserved CHECK (reserved >= 0),
    CONSTRAINT ck_account_weight CHECK (weight > 0),
    CONSTRAINT ck_account_state CHECK (state IN ('active', 'suspended', 'frozen')),
    CONSTRAINT uq_account_name UNIQUE (name)
);
COMMENT ON COLUMN account.weight IS 'share of the carrier among accounts';
COMMENT ON COLUMN account.turns IS 'last turn given, per lane';
CREATE TABLE doubt (
    message_id UUID NOT NULL,
    carrier TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    phone BIGINT NOT NULL,
    submitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_doubt PRIMARY KEY (message_id)
);
CREATE INDEX ix_doubt_expires_at ON doubt (expires_at);
CREATE INDEX ix_doubt_phone ON doubt (phone);
COMMENT ON TABLE doubt IS 'the messages in doubt, and nothing else: a row comes with the doubt and goes with it';
CREATE TABLE lease (
    name TEXT NOT NULL,
    holder TEXT NOT NULL,
    held_until TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_lease PRIMARY KEY (name)
);
CREATE TABLE message (
    id UUID NOT NULL,
    phone BIGINT NOT NULL,
    submitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    status message_status NOT NULL,
    price SMALLINT NOT NULL,
    attempts SMALLINT NOT NULL,
    carrier TEXT,
    reference TEXT,
    error TEXT,
    CONSTRAINT pk_message PRIMARY KEY (id)
)
 PARTITION BY RANGE (id);
CREATE INDEX ix_message_reference ON message (reference);
COMMENT ON COLUMN message.finished_at IS 'when the status became final';
COMMENT ON COLUMN message.reference IS 'the carrier''s id of the message, as received';
COMMENT ON COLUMN message.error IS 'the carrier''s code, or ours';
CREATE TABLE receipt (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    carrier TEXT NOT NULL,
    reference TEXT NOT NULL,
    phone BIGINT,
    status message_status NOT NULL,
    error TEXT,
    done_at TIMESTAMP WITH TIME ZONE NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_receipt PRIMARY KEY (id)
);
CREATE INDEX ix_receipt_received_at ON receipt (received_at);
COMMENT ON TABLE receipt IS 'receipts that found no message yet: they came before the submit''s result, or are not ours';
CREATE TABLE revoked_token (
    id TEXT NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_revoked_token PRIMARY KEY (id)
);
CREATE INDEX ix_revoked_token_expires_at ON revoked_token (expires_at);
CREATE TABLE simulated_receipt (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    reference TEXT NOT NULL,
    phone BIGINT NOT NULL,
    status message_status NOT NULL,
    error TEXT,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_simulated_receipt PRIMARY KEY (id)
);
CREATE INDEX ix_simulated_receipt_due_at ON simulated_receipt (due_at);
COMMENT ON TABLE simulated_receipt IS 'what the simulated carrier still has to report; a real carrier keeps this on its side';
CREATE TABLE simulated_submit (
    message_id UUID NOT NULL,
    phone BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL
);
CREATE INDEX ix_simulated_submit_message_id ON simulated_submit (message_id);
COMMENT ON TABLE simulated_submit IS 'what the simulated carrier was given, in its own books: more than one row a message is a duplicate';
CREATE TABLE api_key (
    id TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    secret_hash BYTEA NOT NULL,
    test BOOLEAN NOT NULL,
    scopes TEXT[] NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_api_key PRIMARY KEY (id),
    CONSTRAINT fk_api_key_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_api_key_account_id ON api_key (account_id);
CREATE TABLE contact_group (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    contact_count INTEGER DEFAULT 0 NOT NULL,
    last_position BIGINT DEFAULT 0 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    deleted_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_contact_group PRIMARY KEY (id),
    CONSTRAINT ck_contact_group_contact_count CHECK (contact_count >= 0),
    CONSTRAINT fk_contact_group_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE UNIQUE INDEX uq_contact_group_account_id_name ON contact_group (account_id, name) WHERE deleted_at IS NULL;
COMMENT ON TABLE contact_group IS 'contact_count and last_position change in the transaction that changes the contacts';
CREATE TABLE idempotency (
    account_id BIGINT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    answer TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_idempotency PRIMARY KEY (account_id, path, key),
    CONSTRAINT fk_idempotency_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_idempotency_created_at ON idempotency (created_at);
CREATE TABLE ledger (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    amount BIGINT NOT NULL,
    subject_type TEXT NOT NULL,
    subject UUID NOT NULL,
    step INTEGER DEFAULT 0 NOT NULL,
    reason TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_ledger PRIMARY KEY (id),
    CONSTRAINT ck_ledger_amount CHECK (amount > 0),
    CONSTRAINT ck_ledger_subject_type CHECK (subject_type IN ('topup', 'send', 'batch', 'message')),
    CONSTRAINT ck_ledger_double_entry CHECK ((kind, debit, credit) IN (('topup', 'funding', 'available'), ('reserve', 'available', 'reserved'), ('capture', 'reserved', 'revenue'), ('release', 'reserved', 'available'), ('refund', 'revenue', 'available'))),
    CONSTRAINT uq_ledger_operation UNIQUE (subject, kind, step),
    CONSTRAINT fk_ledger_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_ledger_account_id_id ON ledger (account_id, id);
COMMENT ON TABLE ledger IS 'append-only: a trigger refuses UPDATE, DELETE and TRUNCATE';
COMMENT ON COLUMN ledger.debit IS 'the book that the amount leaves';
COMMENT ON COLUMN ledger.credit IS 'the book that the amount enters';
COMMENT ON COLUMN ledger.subject IS 'the top-up, send, batch or message that the amount belongs to';
CREATE TABLE send (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    api_key_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    state send_state NOT NULL,
    test BOOLEAN NOT NULL,
    sender_id TEXT NOT NULL,
    message TEXT NOT NULL,
    encoding TEXT NOT NULL,
    characters INTEGER NOT NULL,
    segments SMALLINT NOT NULL,
    price SMALLINT NOT NULL,
    lane SMALLINT NOT NULL,
    reference TEXT,
    metadata JSONB,
    rate INTEGER,
    paced_until TIMESTAMP WITH TIME ZONE,
    send_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    group_id UUID,
    group_bound BIGINT,
    expanded_to BIGINT,
    unexpanded INTEGER DEFAULT 0 NOT NULL,
    open_batches INTEGER DEFAULT 0 NOT NULL,
    submitted INTEGER DEFAULT 0 NOT NULL,
    accepted INTEGER DEFAULT 0 NOT NULL,
    duplicate INTEGER DEFAULT 0 NOT NULL,
    invalid INTEGER DEFAULT 0 NOT NULL,
    suppressed INTEGER DEFAULT 0 NOT NULL,
    removed INTEGER DEFAULT 0 NOT NULL,
    in_doubt INTEGER DEFAULT 0 NOT NULL,
    sent INTEGER DEFAULT 0 NOT NULL,
    rejected INTEGER DEFAULT 0 NOT NULL,
    failed INTEGER DEFAULT 0 NOT NULL,
    canceled INTEGER DEFAULT 0 NOT NULL,
    expired INTEGER DEFAULT 0 NOT NULL,
    undelivered INTEGER DEFAULT 0 NOT NULL,
    delivered INTEGER DEFAULT 0 NOT NULL,
    held_reason TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    completed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_send PRIMARY KEY (id),
    CONSTRAINT ck_send_kind CHECK (kind IN ('single', 'bulk', 'group')),
    CONSTRAINT ck_send_open CHECK (open_batches >= 0 AND unexpanded >= 0),
    CONSTRAINT fk_send_account_id FOREIGN KEY(account_id) REFERENCES account (id)
)
 WITH (fillfactor = 50);
CREATE INDEX ix_send_account_id_id ON send (account_id, id);
CREATE INDEX ix_send_closing ON send (id) WHERE state = 'canceled' AND completed_at IS NULL;
CREATE INDEX ix_send_due ON send (send_at) WHERE state = 'scheduled';
CREATE INDEX ix_send_expanding ON send (id) WHERE expanded_to IS NOT NULL;
CREATE INDEX ix_send_open ON send (expires_at) WHERE completed_at IS NULL;
COMMENT ON COLUMN send.segments IS 'segments of one message';
COMMENT ON COLUMN send.price IS 'credits for one message; 0 with a test key';
COMMENT ON COLUMN send.rate IS 'segments per second, at most, for this send';
COMMENT ON COLUMN send.paced_until IS 'when a send with a rate of its own may go on';
COMMENT ON COLUMN send.group_bound IS 'last position in the group when the send was accepted';
COMMENT ON COLUMN send.expanded_to IS 'last position that has a batch; null when expansion is over';
CREATE TABLE sender_id (
    account_id BIGINT NOT NULL,
    sender_id TEXT NOT NULL,
    state TEXT DEFAULT 'pending' NOT NULL,
    reason TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_sender_id PRIMARY KEY (account_id, sender_id),
    CONSTRAINT ck_sender_id_state CHECK (state IN ('pending', 'approved', 'rejected', 'suspended')),
    CONSTRAINT fk_sender_id_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE TABLE suppression (
    account_id BIGINT NOT NULL,
    phone BIGINT NOT NULL,
    reason TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_suppression PRIMARY KEY (account_id, phone),
    CONSTRAINT fk_suppression_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE TABLE batch (
    id UUID NOT NULL,
    send_id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    state batch_state NOT NULL,
    turn BIGINT NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    size SMALLINT NOT NULL,
    recipients TEXT NOT NULL,
    next_index SMALLINT DEFAULT 1 NOT NULL,
    retry SMALLINT[],
    intent SMALLINT DEFAULT 0 NOT NULL,
    watermark SMALLINT DEFAULT 0 NOT NULL,
    epoch INTEGER DEFAULT 0 NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    database_started TIMESTAMP WITH TIME ZONE,
    attempts SMALLINT DEFAULT 0 NOT NULL,
    crashes SMALLINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_batch PRIMARY KEY (id),
    CONSTRAINT ck_batch_next_index CHECK (size > 0 AND next_index BETWEEN 1 AND size + 1),
    CONSTRAINT ck_batch_watermark CHECK (watermark BETWEEN 0 AND intent),
    CONSTRAINT ck_batch_intent CHECK (intent = 0 OR state = 'sending'),
    CONSTRAINT fk_batch_send_id FOREIGN KEY(send_id) REFERENCES send (id)
)
 WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX ix_batch_due ON batch (due_at) WHERE state = 'waiting';
CREATE INDEX ix_batch_send_id ON batch (send_id);
CREATE INDEX ix_batch_sending ON batch (id) WHERE state = 'sending';
CREATE INDEX ix_batch_turn ON batch (turn, id) WHERE state = 'queued';
COMMENT ON COLUMN batch.turn IS 'place in fair order, in virtual microseconds';
COMMENT ON COLUMN batch.recipients IS 'phones in order of their index, a line each';
COMMENT ON COLUMN batch.retry IS 'indexes below next_index that certainly never left and go first';
COMMENT ON COLUMN batch.intent IS 'messages this turn may submit';
COMMENT ON COLUMN batch.watermark IS 'of these, may have left';
COMMENT ON COLUMN batch.epoch IS 'fences workers that lost the lease';
COMMENT ON COLUMN batch.database_started IS 'start of the database under which the watermark can be trusted';
CREATE TABLE contact (
    group_id UUID NOT NULL,
    position BIGINT NOT NULL,
    phone BIGINT NOT NULL,
    CONSTRAINT pk_contact PRIMARY KEY (group_id, position),
    CONSTRAINT uq_contact_group_id_phone UNIQUE (group_id, phone),
    CONSTRAINT fk_contact_group_id FOREIGN KEY(group_id) REFERENCES contact_group (id)
);
COMMENT ON COLUMN contact.position IS 'order of arrival in the group, never used again';
CREATE TABLE send_rejection (
    send_id UUID NOT NULL,
    entries JSONB NOT NULL,
    CONSTRAINT pk_send_rejection PRIMARY KEY (send_id),
    CONSTRAINT fk_send_rejection_send_id FOREIGN KEY(send_id) REFERENCES send (id)
);
COMMENT ON COLUMN send_rejection.entries IS 'recipients of a bulk send that were not accepted, by index';
CREATE TABLE message_default PARTITION OF message DEFAULT WITH (fillfactor = 60);
ALTER TABLE batch ALTER COLUMN recipients SET STORAGE EXTERNAL;
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION batch_of(message_id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN overlay(message_id::text placing '0000' from 33)::uuid;
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
