"""Prices, credit, statements, exports of messages, margin, verifications, SMPP, Kannel's API and the unit of amounts.

The tables that every send needs are locked last, and not for long: what takes time is left to the next revision.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
compatible = True

SCHEMA = r"""
-- Price lists by destination, with versions.
CREATE TABLE price_list (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    carrier TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_price_list PRIMARY KEY (id),
    CONSTRAINT uq_price_list_name UNIQUE (name),
    CONSTRAINT uq_price_list_carrier UNIQUE (carrier)
);
COMMENT ON COLUMN price_list.carrier IS 'the carrier whose costs it has; null: what accounts pay';
CREATE TABLE price_version (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    list_id BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    prices INTEGER NOT NULL,
    valid_from TIMESTAMP WITH TIME ZONE,
    published_at TIMESTAMP WITH TIME ZONE,
    withdrawn_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_price_version PRIMARY KEY (id),
    CONSTRAINT ck_price_version_published CHECK ((valid_from IS NULL) = (published_at IS NULL)),
    CONSTRAINT ck_price_version_withdrawn CHECK (withdrawn_at < valid_from),
    CONSTRAINT fk_price_version_list_id FOREIGN KEY(list_id) REFERENCES price_list (id)
);
CREATE INDEX ix_price_version_list_id ON price_version (list_id, valid_from);
COMMENT ON TABLE price_version IS 'what a list says from a moment on, until its next version is valid; its prices never change';
COMMENT ON COLUMN price_version.prices IS 'number of its prices';
COMMENT ON COLUMN price_version.valid_from IS 'null: a draft';
COMMENT ON COLUMN price_version.withdrawn_at IS 'it never became valid';
CREATE TABLE price (
    version_id BIGINT NOT NULL,
    category TEXT NOT NULL,
    prefix TEXT NOT NULL,
    price BIGINT NOT NULL,
    CONSTRAINT pk_price PRIMARY KEY (version_id, category, prefix),
    CONSTRAINT ck_price_category CHECK (category IN ('', 'transactional', 'marketing', 'authentication')),
    CONSTRAINT ck_price_prefix CHECK (prefix ~ '^[0-9]{0,15}$'),
    CONSTRAINT ck_price_price CHECK (price >= 0)
);
COMMENT ON COLUMN price.category IS 'empty: any';
COMMENT ON COLUMN price.prefix IS 'first digits of phones; empty: any';
COMMENT ON COLUMN price.price IS 'credits per segment';

-- References of the recipients of a list.
CREATE TABLE recipient_reference (
    message_id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_recipient_reference PRIMARY KEY (message_id)
);
CREATE INDEX ix_recipient_reference_account_id ON recipient_reference (account_id, reference, message_id);
COMMENT ON TABLE recipient_reference IS 'references that recipients of lists have of their own, by message';

-- Contacts of a group by their first digits, for what a group send costs. The next revision counts those that are there.
LOCK TABLE contact IN SHARE ROW EXCLUSIVE MODE;
CREATE TABLE contact_group_prefix (
    group_id UUID NOT NULL,
    prefix SMALLINT NOT NULL,
    contacts BIGINT NOT NULL,
    CONSTRAINT pk_contact_group_prefix PRIMARY KEY (group_id, prefix),
    CONSTRAINT fk_contact_group_prefix_group_id FOREIGN KEY(group_id) REFERENCES contact_group (id)
);
COMMENT ON TABLE contact_group_prefix IS 'contacts of a group by what tells their country; triggers of `contact` keep it';
COMMENT ON COLUMN contact_group_prefix.prefix IS 'the first four digits of phones';
CREATE FUNCTION count_prefixes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contact_group_prefix AS p (group_id, prefix, contacts)
    SELECT group_id, left(phone::text, 4)::smallint, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
      FROM changed GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (group_id, prefix) DO UPDATE SET contacts = p.contacts + EXCLUDED.contacts;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_added AFTER INSERT ON contact REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_prefixes();
CREATE TRIGGER contact_removed AFTER DELETE ON contact REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_prefixes();

-- What a send needs, in the order in which accepting one locks it.
ALTER TABLE send
    ADD COLUMN price_version_id BIGINT,
    ADD COLUMN verification_id UUID,
    ADD COLUMN smpp JSONB,
    ADD COLUMN dlr_mask SMALLINT;
COMMENT ON COLUMN send.price_version_id IS 'the prices that it was accepted with; null: 1 per segment';
COMMENT ON COLUMN send.price IS 'credits per message; the most if they differ';
COMMENT ON COLUMN send.cost IS 'credits reserved, if texts or prices differ; null: price times accepted';
COMMENT ON COLUMN send.unexpanded_credits IS 'credits reserved for the rest of the group, if texts or prices differ; null: price times unexpanded';
COMMENT ON COLUMN send.verification_id IS 'the verification whose code it sends: its text is shown without the code';
COMMENT ON COLUMN send.smpp IS 'of a send over SMPP: which receipts are wanted, its reference, and a part as it came';
COMMENT ON COLUMN send.dlr_mask IS
    'of a send by Kannel''s API: the statuses that its callback_url gets by GET; null: all events by POST';
ALTER TABLE batch ADD COLUMN price BIGINT;
COMMENT ON COLUMN batch.price IS 'credits per message, if texts or prices differ; null: that of the send';
ALTER TABLE ledger
    DROP CONSTRAINT ck_ledger_subject_type,
    ADD CONSTRAINT ck_ledger_subject_type
        CHECK (subject_type IN ('topup', 'adjustment', 'send', 'batch', 'message')) NOT VALID,
    DROP CONSTRAINT ck_ledger_double_entry,
    ADD CONSTRAINT ck_ledger_double_entry
        CHECK ((kind, debit, credit) IN (('topup', 'funding', 'available'), ('reserve', 'available', 'reserved'),
                                         ('capture', 'reserved', 'revenue'), ('release', 'reserved', 'available'),
                                         ('refund', 'revenue', 'available'), ('reversal', 'available', 'funding'),
                                         ('adjustment', 'funding', 'available'),
                                         ('adjustment', 'available', 'funding'))) NOT VALID;
COMMENT ON COLUMN ledger.subject IS
    'the top-up, adjustment, send, batch or message that the amount belongs to';

-- A credit limit may be lowered below what an account owes, so what a reserve may take is no check of the row: a trigger
-- compares it with the row before. It also refuses what processes of the release before reserve for a suspended account.
ALTER TABLE account
    ADD COLUMN credit_limit BIGINT DEFAULT 0 NOT NULL,
    ADD COLUMN spend_threshold BIGINT,
    ADD COLUMN spend_told DATE,
    ADD COLUMN verification JSONB,
    ADD CONSTRAINT ck_account_credit_limit CHECK (credit_limit >= 0),
    ADD CONSTRAINT ck_account_spend_threshold CHECK (spend_threshold > 0),
    DROP CONSTRAINT ck_account_available;
COMMENT ON COLUMN account.credit_limit IS 'credits that it may owe: `available` may be as far below 0';
COMMENT ON COLUMN account.spend_threshold IS 'credits charged in a UTC month that are reported; null: none';
COMMENT ON COLUMN account.spend_told IS 'the month for which the threshold was reported, by its first day';
COMMENT ON COLUMN account.verification IS 'its settings of verifications; null: the usual ones';
CREATE FUNCTION refuse_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE check_violation USING CONSTRAINT = 'ck_account_available', MESSAGE = format(
        'account %s is %s and may owe %s: ck_account_available refuses %s', NEW.id, NEW.state, NEW.credit_limit, NEW.available);
END $$;
CREATE TRIGGER account_credit_limit AFTER UPDATE OF available, reserved ON account FOR EACH ROW
    WHEN (NEW.available < OLD.available AND NEW.available + NEW.credit_limit < 0
          OR NEW.reserved > OLD.reserved AND NEW.state <> 'active')
    EXECUTE FUNCTION refuse_debt();

ALTER TABLE quote ADD COLUMN price_version_id BIGINT;
COMMENT ON COLUMN quote.price_version_id IS 'the prices that it was made with; null: 1 per segment';
ALTER TABLE installation ADD COLUMN unit TEXT;
COMMENT ON COLUMN installation.unit IS 'what a credit is worth, once UNIT has named a currency';

-- Which price list an account has.
CREATE TABLE price_assignment (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT,
    list_id BIGINT,
    valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_price_assignment PRIMARY KEY (id),
    CONSTRAINT fk_price_assignment_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT fk_price_assignment_list_id FOREIGN KEY(list_id) REFERENCES price_list (id)
);
CREATE INDEX ix_price_assignment_account_id ON price_assignment (account_id, valid_from);
CREATE INDEX ix_price_assignment_default ON price_assignment (valid_from) WHERE account_id IS NULL;
COMMENT ON TABLE price_assignment IS 'which list an account has from a moment on; append-only';
COMMENT ON COLUMN price_assignment.account_id IS 'null: every account without one of its own';
COMMENT ON COLUMN price_assignment.list_id IS 'null: no list from then on';

-- Statements of accounts, a month each.
CREATE TABLE statement (
    account_id BIGINT NOT NULL,
    month DATE NOT NULL,
    opening BIGINT NOT NULL,
    lines JSON NOT NULL,
    counted_to TIMESTAMP WITH TIME ZONE NOT NULL,
    ledger_id BIGINT NOT NULL,
    closed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_statement PRIMARY KEY (account_id, month),
    CONSTRAINT fk_statement_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON TABLE statement IS 'the months of an account, without gaps';
COMMENT ON COLUMN statement.month IS 'its first day, UTC';
COMMENT ON COLUMN statement.lines IS 'what was posted, summed up; closed statements never change';
COMMENT ON COLUMN statement.counted_to IS 'what was posted before is in the lines';
COMMENT ON COLUMN statement.ledger_id IS 'no entry up to this one is still to be counted';
COMMENT ON COLUMN statement.closed_at IS 'when all of the month was counted; null: not yet';

-- Exports of messages.
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

-- What charged messages brought and cost, by hour, account, country and carrier.
CREATE TABLE margin (
    account_id BIGINT NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    country TEXT NOT NULL,
    carrier TEXT NOT NULL,
    costed BOOLEAN DEFAULT false NOT NULL,
    messages BIGINT NOT NULL,
    credits BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    kept BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_margin PRIMARY KEY (account_id, began_at, country, carrier, costed, kept),
    CONSTRAINT fk_margin_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_margin_began_at ON margin (began_at);
COMMENT ON TABLE margin IS
    'charged messages, and what they cost, by hour; of hours in which a carrier has costs';
COMMENT ON COLUMN margin.began_at IS 'hour in which the sends were accepted';
COMMENT ON COLUMN margin.country IS 'ISO 3166-1, two letters; empty: unknown';
COMMENT ON COLUMN margin.costed IS 'whether it is known what they cost';
COMMENT ON COLUMN margin.credits IS 'what the account paid';
COMMENT ON COLUMN margin.cost IS 'credits of ours; 0 unless costed';
COMMENT ON COLUMN margin.kept IS 'counts of deleted sends; only added to';

-- Codes that were sent to phones.
CREATE TABLE verification (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    phone BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    country TEXT,
    code TEXT NOT NULL,
    checks SMALLINT DEFAULT 0 NOT NULL,
    max_checks SMALLINT NOT NULL,
    sends SMALLINT DEFAULT 1 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    approved_at TIMESTAMP WITH TIME ZONE,
    replaced_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_verification PRIMARY KEY (id),
    CONSTRAINT ck_verification_checks CHECK (checks BETWEEN 0 AND max_checks),
    CONSTRAINT fk_verification_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_verification_account_id_id ON verification (account_id, id);
CREATE INDEX ix_verification_account_id_phone ON verification (account_id, phone);
CREATE INDEX ix_verification_expires_at ON verification (expires_at);
CREATE UNIQUE INDEX uq_verification_open ON verification (account_id, phone, purpose)
    WHERE approved_at IS NULL AND replaced_at IS NULL;
COMMENT ON TABLE verification IS 'codes sent to phones; deleted 30 days after they expired';
COMMENT ON COLUMN verification.country IS 'ISO 3166-1, two letters; null: none';
COMMENT ON COLUMN verification.code IS 'sealed under a key of its own';
COMMENT ON COLUMN verification.checks IS 'wrong checks, and those that are being compared';
COMMENT ON COLUMN verification.sends IS 'how often the code was sent';
COMMENT ON COLUMN verification.sent_at IS 'when the code was last accepted';
COMMENT ON COLUMN verification.replaced_at IS 'when a new one for its phone and purpose began';

-- Who may bind over SMPP, and who has.
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
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
