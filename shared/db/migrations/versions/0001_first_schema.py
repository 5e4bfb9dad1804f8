"""The schema of the first release."""

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
    country TEXT,
    spend_day BIGINT,
    spend_month BIGINT,
    retention_days INTEGER,
    forgotten_to UUID,
    sandbox_of BIGINT,
    authentication BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_account PRIMARY KEY (id),
    CONSTRAINT ck_account_sandbox_of CHECK (sandbox_of <> id),
    CONSTRAINT ck_account_retention_days CHECK (retention_days BETWEEN 1 AND 3650),
    CONSTRAINT ck_account_spend CHECK (spend_day > 0 AND spend_month > 0),
    CONSTRAINT ck_account_available CHECK (available >= 0),
    CONSTRAINT ck_account_reserved CHECK (reserved >= 0),
    CONSTRAINT ck_account_weight CHECK (weight > 0),
    CONSTRAINT ck_account_state CHECK (state IN ('active', 'suspended', 'frozen', 'closed')),
    CONSTRAINT ck_account_country CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT uq_account_name UNIQUE (name),
    CONSTRAINT uq_account_sandbox_of UNIQUE (sandbox_of),
    CONSTRAINT fk_account_sandbox_of FOREIGN KEY(sandbox_of) REFERENCES account (id)
);
COMMENT ON COLUMN account.weight IS 'share of the carrier among accounts';
COMMENT ON COLUMN account.turns IS 'end of the last batch in fair order, per lane';
COMMENT ON COLUMN account.country IS 'ISO 3166-1, two letters: national numbers in its contact lists are read as numbers of this country';
COMMENT ON COLUMN account.spend_day IS 'credits that its sends may reserve in a UTC day; null: unlimited';
COMMENT ON COLUMN account.spend_month IS 'credits that its sends may reserve in a UTC month; null: unlimited';
COMMENT ON COLUMN account.retention_days IS 'days after which texts and phones are deleted; null: the installation''s setting';
COMMENT ON COLUMN account.forgotten_to IS 'texts and phones of sends up to this one are deleted';
COMMENT ON COLUMN account.sandbox_of IS 'the live account whose test keys use this sandbox; null: a live account';
COMMENT ON COLUMN account.authentication IS 'whether its sends may have the category authentication';
CREATE TABLE revoked_token (
    id TEXT NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    api_key_id TEXT NOT NULL,
    CONSTRAINT pk_revoked_token PRIMARY KEY (id)
);
CREATE INDEX ix_revoked_token_revoked_at ON revoked_token (revoked_at);
CREATE INDEX ix_revoked_token_expires_at ON revoked_token (expires_at);
CREATE INDEX ix_revoked_token_api_key_id ON revoked_token (api_key_id);
COMMENT ON COLUMN revoked_token.api_key_id IS 'key or person of the token';
CREATE TABLE operator_key (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    secret_hash BYTEA NOT NULL,
    scopes TEXT[] NOT NULL,
    allowed_ips TEXT[],
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_operator_key PRIMARY KEY (id)
);
COMMENT ON TABLE operator_key IS 'keys of the operator API; they belong to the installation';
COMMENT ON COLUMN operator_key.allowed_ips IS 'the only networks from which it may be used; null: all';
COMMENT ON COLUMN operator_key.last_used_at IS 'when it was last exchanged for a token';
CREATE TABLE operator_revocation (
    holder TEXT NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_operator_revocation PRIMARY KEY (holder)
);
COMMENT ON TABLE operator_revocation IS 'revocations of operator tokens; kept until the tokens have expired';
COMMENT ON COLUMN operator_revocation.holder IS 'an operator key, a person, or a session of one';
COMMENT ON COLUMN operator_revocation.revoked_at IS 'operator tokens issued to the holder before are revoked';
CREATE TABLE archived_week (
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    first_id UUID NOT NULL,
    end_id UUID NOT NULL,
    sealed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    messages BIGINT,
    sha256 TEXT,
    written_at TIMESTAMP WITH TIME ZONE,
    restored_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_archived_week PRIMARY KEY (began_at),
    CONSTRAINT ck_archived_week_written CHECK ((messages IS NULL) = (sha256 IS NULL) AND (messages IS NULL) = (written_at IS NULL))
);
COMMENT ON TABLE archived_week IS 'weeks whose messages were moved to files; a row is never deleted';
COMMENT ON COLUMN archived_week.began_at IS 'its Monday, UTC';
COMMENT ON COLUMN archived_week.first_id IS 'the smallest id of the week';
COMMENT ON COLUMN archived_week.end_id IS 'the smallest id of the next week';
COMMENT ON COLUMN archived_week.sealed_at IS 'when it was archived first; forgetting its sends since then leaves its usage as it is';
COMMENT ON COLUMN archived_week.messages IS 'messages in the file; null: it is not written yet';
COMMENT ON COLUMN archived_week.sha256 IS 'checksum of the file';
COMMENT ON COLUMN archived_week.written_at IS 'the file lacks what was forgotten or erased until then';
COMMENT ON COLUMN archived_week.restored_at IS 'since when its messages are in the database again';
CREATE TABLE carrier_setting (
    name TEXT NOT NULL,
    rate DOUBLE PRECISION,
    "window" INTEGER,
    paused BOOLEAN DEFAULT 'false' NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_carrier_setting PRIMARY KEY (name),
    CONSTRAINT ck_carrier_setting_rate CHECK (rate >= 0),
    CONSTRAINT ck_carrier_setting_window CHECK ("window" > 0)
);
COMMENT ON TABLE carrier_setting IS 'the operator''s changes; null: the value from CARRIERS_FILE';
CREATE TABLE carrier_limit (
    name TEXT NOT NULL,
    rate DOUBLE PRECISION NOT NULL,
    changed DOUBLE PRECISION,
    reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_carrier_limit PRIMARY KEY (name),
    CONSTRAINT ck_carrier_limit_rate CHECK (rate > 0 AND changed >= 0)
);
COMMENT ON TABLE carrier_limit IS 'rates of sender IDs and prefixes';
COMMENT ON COLUMN carrier_limit.name IS 'for example: sender ACME';
COMMENT ON COLUMN carrier_limit.rate IS 'segments per second, from CARRIERS_FILE';
COMMENT ON COLUMN carrier_limit.changed IS 'the operator''s rate; 0: no limit; null: the rate from CARRIERS_FILE';
COMMENT ON COLUMN carrier_limit.reported_at IS 'when a worker last reported it';
CREATE TABLE carrier_report (
    carrier TEXT NOT NULL,
    worker TEXT NOT NULL,
    state TEXT NOT NULL,
    error TEXT,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    rate DOUBLE PRECISION NOT NULL,
    allowed DOUBLE PRECISION NOT NULL,
    "window" INTEGER NOT NULL,
    alone BOOLEAN NOT NULL,
    submitted BIGINT NOT NULL,
    throttled BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
    unreadable BIGINT DEFAULT '0' NOT NULL,
    unknown_answers BIGINT DEFAULT '0' NOT NULL,
    answer_times JSONB DEFAULT '{}' NOT NULL,
    receipt_delays JSONB DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_carrier_report PRIMARY KEY (carrier, worker)
);
COMMENT ON TABLE carrier_report IS 'the state of each carrier in each worker, reported every second';
COMMENT ON COLUMN carrier_report.allowed IS 'segments per second at present; less than the rate after throttling';
COMMENT ON COLUMN carrier_report.alone IS 'Redis is unavailable: this worker takes its share of the rate by its own clock';
COMMENT ON COLUMN carrier_report.submitted IS 'messages since the worker started; the next two likewise';
COMMENT ON COLUMN carrier_report.unreadable IS 'receipts and other PDUs that could not be read';
COMMENT ON COLUMN carrier_report.unknown_answers IS 'responses without a request';
COMMENT ON COLUMN carrier_report.answer_times IS 'answers of the last minutes by the upper bound of their time in seconds';
COMMENT ON COLUMN carrier_report.receipt_delays IS 'receipts of the last minutes by the upper bound of their delay in seconds';
CREATE TABLE suppression_change (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT NOT NULL,
    xid BIGINT DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_suppression_change PRIMARY KEY (id)
);
CREATE INDEX ix_suppression_change_account_id_xid ON suppression_change (account_id, xid);
COMMENT ON TABLE suppression_change IS 'recent opt-outs, one row per transaction';
CREATE TABLE event (
    id UUID NOT NULL,
    xid BIGINT DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
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
COMMENT ON TABLE event IS 'one row for messages that changed together; kept for some days';
COMMENT ON COLUMN event.id IS 'its last 16 bits are zero; they number the row''s events';
COMMENT ON COLUMN event.xid IS 'the order in which events are read';
COMMENT ON COLUMN event.indexes IS 'indexes of the messages in the batch, one event each; null: one event';
CREATE TABLE inbound_part (
    carrier TEXT NOT NULL,
    phone TEXT NOT NULL,
    sender_id TEXT NOT NULL,
    reference INTEGER NOT NULL,
    total SMALLINT NOT NULL,
    number SMALLINT NOT NULL,
    text BYTEA NOT NULL,
    charset TEXT,
    whole BOOLEAN DEFAULT false NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_inbound_part PRIMARY KEY (carrier, phone, sender_id, reference, total, number),
    CONSTRAINT ck_inbound_part_number CHECK (number BETWEEN 1 AND total)
);
CREATE INDEX ix_inbound_part_received_at ON inbound_part (received_at);
COMMENT ON TABLE inbound_part IS 'parts of long messages; kept a little longer than needed, as carriers repeat them';
COMMENT ON COLUMN inbound_part.text IS 'UTF-16, as a part may end within a character';
COMMENT ON COLUMN inbound_part.charset IS 'of the octets of which text has the hex; null: text is the text';
COMMENT ON COLUMN inbound_part.whole IS 'the message is complete and stored';
CREATE TABLE message (
    id UUID NOT NULL,
    phone BIGINT NOT NULL,
    submitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    status message_status NOT NULL,
    price BIGINT NOT NULL,
    attempts SMALLINT NOT NULL,
    carrier TEXT,
    reference TEXT,
    error TEXT,
    route TEXT,
    answer_ms INTEGER,
    carrier_at TIMESTAMP WITH TIME ZONE,
    carrier_at_precision SMALLINT,
    CONSTRAINT pk_message PRIMARY KEY (id)
)
 PARTITION BY RANGE (id);
CREATE INDEX ix_message_reference ON message (reference);
CREATE INDEX ix_message_submitted_at ON message USING brin (submitted_at) WITH (autosummarize = on);
COMMENT ON COLUMN message.finished_at IS 'when we learned the final status';
COMMENT ON COLUMN message.reference IS 'the carrier''s message id, as received';
COMMENT ON COLUMN message.error IS 'the carrier''s error code, or ours';
COMMENT ON COLUMN message.route IS 'why it went to that carrier; null with a single carrier';
COMMENT ON COLUMN message.answer_ms IS 'milliseconds from submitted_at until the carrier answered or was given up; null: unknown';
COMMENT ON COLUMN message.carrier_at IS 'when the status became final, by the carrier''s clock; null: not reported';
COMMENT ON COLUMN message.carrier_at_precision IS 'in seconds: 60, 1, or 0 for fractions';
CREATE TABLE attempt (
    message_id UUID NOT NULL,
    submitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
    answer_ms INTEGER NOT NULL,
    answer TEXT NOT NULL,
    carrier TEXT NOT NULL,
    route TEXT,
    error TEXT,
    CONSTRAINT pk_attempt PRIMARY KEY (message_id, submitted_at)
);
COMMENT ON TABLE attempt IS 'failed attempts of messages; the last attempt is in the message''s row';
CREATE TABLE resolved_doubt (
    message_id UUID NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    reason TEXT,
    resolved_at TIMESTAMP WITH TIME ZONE NOT NULL,
    resolved_by TEXT NOT NULL,
    evidence TEXT,
    status message_status NOT NULL,
    CONSTRAINT pk_resolved_doubt PRIMARY KEY (message_id)
);
COMMENT ON TABLE resolved_doubt IS 'how messages in doubt were resolved';
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
COMMENT ON TABLE doubt IS 'messages in doubt; a row is deleted when the doubt is resolved';
CREATE TABLE unreadable_receipt (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    carrier TEXT NOT NULL,
    reason TEXT NOT NULL,
    octets BYTEA NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_unreadable_receipt PRIMARY KEY (id)
);
CREATE INDEX ix_unreadable_receipt_carrier_id ON unreadable_receipt (carrier, id);
COMMENT ON TABLE unreadable_receipt IS 'the newest receipts that could not be read, as received';
CREATE TABLE receipt (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    carrier TEXT NOT NULL,
    reference TEXT NOT NULL,
    phone BIGINT,
    status message_status NOT NULL,
    error TEXT,
    done_at TIMESTAMP WITH TIME ZONE NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    sender_id TEXT,
    precision SMALLINT,
    CONSTRAINT pk_receipt PRIMARY KEY (id)
);
CREATE INDEX ix_receipt_received_at ON receipt (received_at);
COMMENT ON TABLE receipt IS 'receipts without a message: they came before the submit''s result, or are not ours';
COMMENT ON COLUMN receipt.sender_id IS 'sender of the message, if the receipt names it';
COMMENT ON COLUMN receipt.precision IS 'precision of done_at, in seconds; null: the carrier reported no time';
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
    CONSTRAINT pk_ledger PRIMARY KEY (account_id, id),
    CONSTRAINT ck_ledger_amount CHECK (amount > 0),
    CONSTRAINT ck_ledger_subject_type CHECK (subject_type IN ('topup', 'send', 'batch', 'message')),
    CONSTRAINT ck_ledger_double_entry CHECK ((kind, debit, credit) IN (('topup', 'funding', 'available'), ('reserve', 'available', 'reserved'), ('capture', 'reserved', 'revenue'), ('release', 'reserved', 'available'), ('refund', 'revenue', 'available'), ('reversal', 'available', 'funding'))),
    CONSTRAINT uq_ledger_operation UNIQUE (subject, kind, step)
);
COMMENT ON TABLE ledger IS 'append-only: a trigger refuses UPDATE, DELETE and TRUNCATE';
COMMENT ON COLUMN ledger.debit IS 'the book that the amount leaves';
COMMENT ON COLUMN ledger.credit IS 'the book that the amount enters';
COMMENT ON COLUMN ledger.subject IS 'the top-up, send, batch or message that the amount belongs to';
CREATE TABLE person (
    id UUID NOT NULL,
    email TEXT,
    name TEXT NOT NULL,
    locale TEXT DEFAULT 'en' NOT NULL,
    time_zone TEXT DEFAULT 'UTC' NOT NULL,
    state TEXT DEFAULT 'active' NOT NULL,
    operator_role TEXT,
    password_hash TEXT,
    totp_secret TEXT,
    totp_pending TEXT,
    totp_step BIGINT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    last_sign_in_at TIMESTAMP WITH TIME ZONE,
    disabled_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_person PRIMARY KEY (id),
    CONSTRAINT ck_person_state CHECK (state IN ('active', 'disabled')),
    CONSTRAINT ck_person_disabled_at CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
    CONSTRAINT ck_person_email CHECK (email = lower(email) AND (email IS NOT NULL OR state = 'disabled')),
    CONSTRAINT ck_person_operator_role CHECK (operator_role IN ('admin', 'support')),
    CONSTRAINT uq_person_email UNIQUE (email)
);
CREATE INDEX ix_person_disabled_at ON person (disabled_at) WHERE disabled_at IS NOT NULL;
COMMENT ON TABLE person IS 'people who sign in';
COMMENT ON COLUMN person.email IS 'in lower case; null: erased';
COMMENT ON COLUMN person.operator_role IS 'role in the installation; null: no operator';
COMMENT ON COLUMN person.password_hash IS 'Argon2id in its encoded form; null: none';
COMMENT ON COLUMN person.totp_secret IS 'encrypted; null: TOTP is off';
COMMENT ON COLUMN person.totp_pending IS 'encrypted; a secret that no code has confirmed yet';
COMMENT ON COLUMN person.totp_step IS 'time step of the last code used; older codes are refused';
CREATE TABLE capped (
    account_id BIGINT NOT NULL,
    lane SMALLINT NOT NULL,
    phone BIGINT NOT NULL,
    message_id UUID NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_capped PRIMARY KEY (account_id, lane, phone, message_id)
);
CREATE INDEX ix_capped_at ON capped (at);
COMMENT ON TABLE capped IS 'messages that count against a frequency cap';
CREATE TABLE lease (
    name TEXT NOT NULL,
    holder TEXT NOT NULL,
    held_until TIMESTAMP WITH TIME ZONE NOT NULL,
    incarnation TEXT,
    clock_offset DOUBLE PRECISION,
    CONSTRAINT pk_lease PRIMARY KEY (name)
);
COMMENT ON COLUMN lease.incarnation IS 'the incarnation of the database that this worker has compared with what it had seen';
COMMENT ON COLUMN lease.clock_offset IS 'seconds by which the clock of the holder''s machine is ahead of the database''s';
CREATE TABLE audit_result (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    completed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    "full" BOOLEAN NOT NULL,
    breaches JSONB NOT NULL,
    frozen BIGINT[] NOT NULL,
    CONSTRAINT pk_audit_result PRIMARY KEY (id)
);
COMMENT ON TABLE audit_result IS 'results of audits; the newest are kept';
COMMENT ON COLUMN audit_result."full" IS 'whether everything was checked, or open and recent sends';
COMMENT ON COLUMN audit_result.frozen IS 'accounts that were frozen because of the breaches';
CREATE TABLE state_count (
    id SMALLINT DEFAULT 1 NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    counted_at TIMESTAMP WITH TIME ZONE,
    counts JSONB,
    CONSTRAINT pk_state_count PRIMARY KEY (id),
    CONSTRAINT ck_state_count_single CHECK (id = 1)
);
COMMENT ON TABLE state_count IS 'one row: what GET /metrics counts in tables that grow';
COMMENT ON COLUMN state_count.due_at IS 'when it is counted again';
COMMENT ON COLUMN state_count.counted_at IS 'null: it is being counted for the first time';
CREATE TABLE job_failure (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id BIGINT,
    failures INTEGER NOT NULL,
    error TEXT NOT NULL,
    failed_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    retry_at TIMESTAMP WITH TIME ZONE NOT NULL,
    set_aside_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_job_failure PRIMARY KEY (kind, subject)
);
COMMENT ON TABLE job_failure IS 'jobs that have failed and not succeeded since: shared/job_failures.py';
COMMENT ON COLUMN job_failure.subject IS 'id of the object whose job failed';
COMMENT ON COLUMN job_failure.failures IS 'number of failures in a row';
COMMENT ON COLUMN job_failure.error IS 'type and location of the error, without data';
COMMENT ON COLUMN job_failure.set_aside_at IS 'since when it waits for the operator';
CREATE TABLE installation (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    mark BIGINT DEFAULT 0 NOT NULL,
    looked_at TIMESTAMP WITH TIME ZONE,
    checked TEXT,
    held_since TIMESTAMP WITH TIME ZONE,
    held_reason TEXT,
    written TEXT,
    timeline TEXT,
    synchronous BOOLEAN DEFAULT false NOT NULL,
    file_noted BOOLEAN DEFAULT false NOT NULL,
    examined TEXT,
    examined_since TIMESTAMP WITH TIME ZONE,
    witnessed BOOLEAN DEFAULT false NOT NULL,
    behind BIGINT DEFAULT 0 NOT NULL,
    erasure_key UUID DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT pk_installation PRIMARY KEY (id)
);
COMMENT ON TABLE installation IS 'one row: the identity of this installation, and its mark';
COMMENT ON COLUMN installation.mark IS 'rises every second while workers run';
COMMENT ON COLUMN installation.checked IS 'the incarnation of the database whose mark was compared with the notes outside';
COMMENT ON COLUMN installation.held_since IS 'sending is held since then: the database has lost commits';
COMMENT ON COLUMN installation.written IS 'the database, table and transaction that wrote this row last; a dump does not preserve them';
COMMENT ON COLUMN installation.timeline IS 'the database''s timeline when its incarnation was confirmed';
COMMENT ON COLUMN installation.synchronous IS 'whether commits wait for a standby';
COMMENT ON COLUMN installation.file_noted IS 'whether the mark is noted in a file too';
COMMENT ON COLUMN installation.examined IS 'the incarnation whose witnesses are awaited';
COMMENT ON COLUMN installation.witnessed IS 'whether a witness has confirmed it';
COMMENT ON COLUMN installation.behind IS 'how far the mark was behind';
COMMENT ON COLUMN installation.erasure_key IS 'key of the hashes that replace erased phones';
CREATE TABLE compatibility (
    oldest_code TEXT NOT NULL,
    CONSTRAINT pk_compatibility PRIMARY KEY (oldest_code)
);
COMMENT ON TABLE compatibility IS 'one row: the revision of the oldest release that can use this database';
CREATE TABLE simulated_receipt (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    reference TEXT NOT NULL,
    phone BIGINT NOT NULL,
    status message_status NOT NULL,
    error TEXT,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    carrier TEXT DEFAULT 'simulator' NOT NULL,
    CONSTRAINT pk_simulated_receipt PRIMARY KEY (id)
);
CREATE INDEX ix_simulated_receipt_due_at ON simulated_receipt (due_at);
COMMENT ON TABLE simulated_receipt IS 'receipts that the simulated carrier will deliver';
CREATE TABLE simulated_submit (
    message_id UUID NOT NULL,
    phone BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    carrier TEXT DEFAULT 'simulator' NOT NULL
);
CREATE INDEX ix_simulated_submit_message_id ON simulated_submit (message_id);
COMMENT ON TABLE simulated_submit IS 'messages that the simulated carrier accepted; more than one row per message is a duplicate';
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
    price BIGINT NOT NULL,
    lane SMALLINT NOT NULL,
    reference TEXT,
    metadata JSONB,
    on_unicode TEXT,
    cost BIGINT,
    rate INTEGER,
    paced_until TIMESTAMP WITH TIME ZONE,
    send_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    group_id UUID,
    group_bound BIGINT,
    expanded_to BIGINT,
    unexpanded INTEGER DEFAULT 0 NOT NULL,
    unexpanded_credits BIGINT,
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
    resent INTEGER DEFAULT 0 NOT NULL,
    rules JSONB,
    held_by TEXT,
    carrier TEXT,
    callback_url TEXT,
    request_id TEXT,
    traceparent TEXT,
    forgotten_at TIMESTAMP WITH TIME ZONE,
    was_paused BOOLEAN,
    CONSTRAINT pk_send PRIMARY KEY (id),
    CONSTRAINT ck_send_on_unicode CHECK (on_unicode IN ('send', 'transliterate', 'reject')),
    CONSTRAINT ck_send_credits CHECK (cost >= 0 AND unexpanded_credits >= 0),
    CONSTRAINT ck_send_kind CHECK (kind IN ('single', 'bulk', 'group')),
    CONSTRAINT ck_send_open CHECK (open_batches >= 0 AND unexpanded >= 0)
)
 WITH (fillfactor = 50);
CREATE INDEX ix_send_resent ON send (id) WHERE resent > 0;
CREATE INDEX ix_send_watched ON send (id) WHERE completed_at IS NULL AND (rules ? 'canary' OR rules ? 'stop_if');
CREATE INDEX ix_send_in_progress ON send (account_id, id) WHERE completed_at IS NULL AND kind <> 'single' AND state IN ('expanding', 'queued', 'sending', 'paused', 'held');
CREATE INDEX ix_send_expanding ON send (id) WHERE expanded_to IS NOT NULL;
CREATE INDEX ix_send_due ON send (send_at) WHERE state = 'scheduled';
CREATE INDEX ix_send_open ON send (expires_at) WHERE completed_at IS NULL;
CREATE INDEX ix_send_account_id_id ON send (account_id, id);
CREATE INDEX ix_send_closing ON send (id) WHERE state = 'canceled' AND completed_at IS NULL;
COMMENT ON COLUMN send.segments IS 'segments of one message';
COMMENT ON COLUMN send.price IS 'credits per message';
COMMENT ON COLUMN send.on_unicode IS 'how texts with placeholders are made; null: there are none';
COMMENT ON COLUMN send.cost IS 'credits reserved, if texts differ; null: price times accepted';
COMMENT ON COLUMN send.rate IS 'maximum segments per second';
COMMENT ON COLUMN send.paced_until IS 'when a send with its own rate may go on';
COMMENT ON COLUMN send.group_bound IS 'last position in the group when the send was accepted';
COMMENT ON COLUMN send.expanded_to IS 'last position that has a batch; null: the expansion is complete';
COMMENT ON COLUMN send.unexpanded_credits IS 'credits reserved for the rest of the group, if texts differ; null: price times unexpanded';
COMMENT ON COLUMN send.rules IS 'its quiet hours, cap, canary and stop_if; null: none';
COMMENT ON COLUMN send.held_by IS 'what holds it: operator, crashes, sender_id, canary or stop_if';
COMMENT ON COLUMN send.carrier IS 'the only carrier that it may use; null: any';
COMMENT ON COLUMN send.request_id IS 'the request that made it, if that is logged: workers then log its batches';
COMMENT ON COLUMN send.traceparent IS 'W3C context of the request that made it, if that is traced';
COMMENT ON COLUMN send.forgotten_at IS 'when its texts and phones were deleted; counts are kept';
COMMENT ON COLUMN send.was_paused IS 'whether its owner had paused it when it was held; null: not held';
CREATE TABLE batch (
    id UUID NOT NULL,
    send_id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    lane SMALLINT NOT NULL,
    state batch_state NOT NULL,
    turn BIGINT NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    size SMALLINT NOT NULL,
    segments SMALLINT,
    recipients TEXT NOT NULL,
    variables JSONB,
    next_index SMALLINT DEFAULT 1 NOT NULL,
    retry_indexes SMALLINT[],
    postponed SMALLINT DEFAULT 0 NOT NULL,
    intent SMALLINT DEFAULT 0 NOT NULL,
    watermark SMALLINT DEFAULT 0 NOT NULL,
    epoch INTEGER DEFAULT 0 NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    database_started TIMESTAMP WITH TIME ZONE,
    attempts SMALLINT DEFAULT 0 NOT NULL,
    crashes SMALLINT DEFAULT 0 NOT NULL,
    carrier TEXT,
    portion SMALLINT,
    route TEXT,
    CONSTRAINT pk_batch PRIMARY KEY (id),
    CONSTRAINT ck_batch_next_index CHECK (size > 0 AND next_index BETWEEN 1 AND size + 1),
    CONSTRAINT ck_batch_variables CHECK ((segments IS NULL) = (variables IS NULL)),
    CONSTRAINT ck_batch_watermark CHECK (watermark BETWEEN 0 AND intent),
    CONSTRAINT ck_batch_intent CHECK (intent = 0 OR state = 'sending')
)
 WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX ix_batch_sending ON batch (turn) WHERE state = 'sending';
CREATE INDEX ix_batch_carrier ON batch (carrier, turn, id) WHERE state = 'queued' AND carrier IS NOT NULL;
CREATE INDEX ix_batch_authentication ON batch (carrier, turn, id) WHERE state = 'queued' AND lane = 0;
CREATE INDEX ix_batch_awaits ON batch (carrier) WHERE state = 'waiting' AND carrier IS NOT NULL;
CREATE INDEX ix_batch_due ON batch (due_at) WHERE state = 'waiting';
CREATE INDEX ix_batch_turn ON batch (turn, id) WHERE state = 'queued';
CREATE INDEX ix_batch_send_id ON batch (send_id);
COMMENT ON COLUMN batch.lane IS 'its send''s lane';
COMMENT ON COLUMN batch.turn IS 'position in fair order, in virtual microseconds';
COMMENT ON COLUMN batch.segments IS 'segments of each message, if texts differ; null: those of the send';
COMMENT ON COLUMN batch.recipients IS 'phones in order of their index, one per line';
COMMENT ON COLUMN batch.variables IS 'values for the text, in the same order; null: the send''s text has no placeholders';
COMMENT ON COLUMN batch.retry_indexes IS 'indexes below next_index that are sent first';
COMMENT ON COLUMN batch.postponed IS 'how many at the end of retry_indexes were refused for their own sake and wait for the others';
COMMENT ON COLUMN batch.intent IS 'messages that the current cycle may submit';
COMMENT ON COLUMN batch.watermark IS 'how many of the intent may have left';
COMMENT ON COLUMN batch.epoch IS 'fencing token: rises with each claim';
COMMENT ON COLUMN batch.database_started IS 'start of the database under which the watermark can be trusted';
COMMENT ON COLUMN batch.carrier IS 'the carrier queue that it is in; null until it is routed, and always with a single carrier';
COMMENT ON COLUMN batch.portion IS 'how many of retry_indexes go through that carrier; null: everything that is left';
COMMENT ON COLUMN batch.route IS 'why it goes to that carrier';
CREATE TABLE queue_clock (
    singleton BOOLEAN DEFAULT true NOT NULL,
    turn BIGINT NOT NULL,
    CONSTRAINT pk_queue_clock PRIMARY KEY (singleton),
    CONSTRAINT ck_queue_clock_singleton CHECK (singleton)
);
COMMENT ON TABLE queue_clock IS 'one row: where fair order is while no messages wait';
COMMENT ON COLUMN queue_clock.turn IS 'in virtual microseconds';
CREATE TABLE idempotency (
    account_id BIGINT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    response TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    api_key_id TEXT NOT NULL,
    CONSTRAINT pk_idempotency PRIMARY KEY (account_id, path, key)
);
CREATE INDEX ix_idempotency_created_at ON idempotency (created_at);
COMMENT ON COLUMN idempotency.api_key_id IS 'the key or person that made the request';
CREATE TABLE text_key (
    id TEXT NOT NULL,
    proof TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_text_key PRIMARY KEY (id)
);
COMMENT ON TABLE text_key IS 'keys that have encrypted texts; a process without one of them does not start';
COMMENT ON COLUMN text_key.proof IS 'a known text, encrypted with the key';
CREATE TABLE usage_hour (
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    counted_at TIMESTAMP WITH TIME ZONE,
    counters BIGINT[],
    final BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_usage_hour PRIMARY KEY (began_at)
);
CREATE INDEX ix_usage_hour_due_at ON usage_hour (due_at) WHERE NOT final;
COMMENT ON TABLE usage_hour IS 'hours (UTC) in which sends were accepted';
COMMENT ON COLUMN usage_hour.due_at IS 'when its sends are counted again';
COMMENT ON COLUMN usage_hour.counters IS 'sums over its sends when they were counted';
COMMENT ON COLUMN usage_hour.final IS 'whether its sends cannot change any more';
CREATE TABLE api_key (
    id TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    secret_hash BYTEA NOT NULL,
    test BOOLEAN NOT NULL,
    scopes TEXT[] NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    name TEXT,
    allowed_ips TEXT[],
    requests_per_second INTEGER,
    generation INTEGER DEFAULT 0 NOT NULL,
    previous_hash BYTEA,
    previous_until TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_api_key PRIMARY KEY (id),
    CONSTRAINT ck_api_key_requests_per_second CHECK (requests_per_second > 0),
    CONSTRAINT fk_api_key_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_api_key_expires_at ON api_key (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX ix_api_key_account_id ON api_key (account_id);
CREATE INDEX ix_api_key_live ON api_key (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX ix_api_key_revoked_at ON api_key (revoked_at) WHERE revoked_at IS NOT NULL;
COMMENT ON COLUMN api_key.allowed_ips IS 'the only networks from which it may be used; null: all';
COMMENT ON COLUMN api_key.requests_per_second IS 'maximum for this key; null: the account''s';
COMMENT ON COLUMN api_key.generation IS 'how often it was rotated; a token names the generation of its secret';
COMMENT ON COLUMN api_key.previous_hash IS 'hash of the previous secret, valid until previous_until';
CREATE TABLE sender_id (
    account_id BIGINT NOT NULL,
    sender_id TEXT NOT NULL,
    state TEXT DEFAULT 'pending' NOT NULL,
    reason TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    use_case TEXT,
    authentication BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_sender_id PRIMARY KEY (account_id, sender_id),
    CONSTRAINT ck_sender_id_state CHECK (state IN ('pending', 'approved', 'rejected', 'suspended')),
    CONSTRAINT fk_sender_id_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_sender_id_refused ON sender_id (decided_at) WHERE state IN ('suspended', 'rejected');
CREATE UNIQUE INDEX uq_sender_id_id ON sender_id (id);
CREATE INDEX ix_sender_id_name ON sender_id (lower(sender_id));
CREATE INDEX ix_sender_id_skeleton ON sender_id (replace(replace(translate(regexp_replace(sender_id, '[^A-Za-z0-9]', '', 'g'), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ01i582', 'abcdefghljklmnopqrstuvwxyzollsbz'), 'rn', 'm'), 'vv', 'w'));
COMMENT ON COLUMN sender_id.use_case IS 'the purpose, in the account''s own words';
COMMENT ON COLUMN sender_id.authentication IS 'whether sends from it may have the category authentication, whatever the account may';
CREATE TABLE audit_log (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    account_id BIGINT,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT,
    before JSONB,
    after JSONB,
    reason TEXT,
    request_id TEXT,
    address TEXT,
    CONSTRAINT pk_audit_log PRIMARY KEY (id),
    CONSTRAINT fk_audit_log_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_audit_log_account_id_id ON audit_log (account_id, id);
COMMENT ON TABLE audit_log IS 'changes of rights and money; append-only: a trigger refuses UPDATE, DELETE and TRUNCATE';
COMMENT ON COLUMN audit_log.actor IS 'an API key, a person, an operator, or a worker';
COMMENT ON COLUMN audit_log.action IS 'type of the object and of the change, such as key.created';
COMMENT ON COLUMN audit_log.subject IS 'id of the object';
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
CREATE INDEX ix_contact_group_deleted ON contact_group (id) WHERE deleted_at IS NOT NULL AND contact_count > 0;
CREATE INDEX ix_contact_group_account_id_id ON contact_group (account_id, id) WHERE deleted_at IS NULL;
COMMENT ON TABLE contact_group IS 'contact_count and last_position change in the transaction that changes the contacts';
CREATE TABLE suppression (
    account_id BIGINT NOT NULL,
    phone BIGINT NOT NULL,
    reason TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    category TEXT DEFAULT '' NOT NULL,
    sender_id TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_suppression PRIMARY KEY (account_id, phone, category, sender_id),
    CONSTRAINT fk_suppression_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_suppression_undecided ON suppression (account_id, phone) WHERE reason = 'possible_stop';
COMMENT ON COLUMN suppression.category IS 'the only category that it applies to; empty: all';
COMMENT ON COLUMN suppression.sender_id IS 'the only sender ID that it applies to; empty: all';
CREATE TABLE listener (
    account_id BIGINT NOT NULL,
    pulled_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_listener PRIMARY KEY (account_id),
    CONSTRAINT fk_listener_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON TABLE listener IS 'accounts whose events are stored';
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
    CONSTRAINT ck_inbound_keyword CHECK (keyword IN ('stop', 'start', 'possible_stop')),
    CONSTRAINT uq_inbound_carrier_identity UNIQUE (carrier, identity),
    CONSTRAINT fk_inbound_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_inbound_account_id_phone_id ON inbound (account_id, phone, id);
CREATE INDEX ix_inbound_account_id_id ON inbound (account_id, id);
COMMENT ON COLUMN inbound.account_id IS 'null: the number belongs to no account';
COMMENT ON COLUMN inbound.identity IS 'the carrier''s id, if it has one';
COMMENT ON COLUMN inbound.phone IS 'the sender, nearly always a phone';
COMMENT ON COLUMN inbound.sender_id IS 'the number that it was sent to';
COMMENT ON COLUMN inbound.missing IS 'number of segments that did not arrive';
CREATE TABLE account_limit (
    account_id BIGINT NOT NULL,
    requests_per_second INTEGER,
    destinations TEXT[],
    pumping TEXT DEFAULT 'off' NOT NULL,
    recipient_authentication INTEGER,
    recipient_transactional INTEGER,
    recipient_marketing INTEGER,
    CONSTRAINT pk_account_limit PRIMARY KEY (account_id),
    CONSTRAINT ck_account_limit_recipient CHECK (recipient_authentication >= 0 AND recipient_transactional >= 0 AND recipient_marketing >= 0),
    CONSTRAINT ck_account_limit_requests_per_second CHECK (requests_per_second > 0),
    CONSTRAINT ck_account_limit_pumping CHECK (pumping IN ('off', 'watch', 'block')),
    CONSTRAINT fk_account_limit_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON COLUMN account_limit.destinations IS 'the only prefixes that phones may begin with; null: all';
COMMENT ON COLUMN account_limit.recipient_authentication IS 'messages of the category to a phone per hour; 0: unlimited; null: the installation''s setting';
CREATE TABLE spending (
    account_id BIGINT NOT NULL,
    period TEXT NOT NULL,
    begins DATE NOT NULL,
    credits BIGINT NOT NULL,
    most BIGINT NOT NULL,
    CONSTRAINT pk_spending PRIMARY KEY (account_id, period, begins),
    CONSTRAINT ck_spending_most CHECK (credits <= most),
    CONSTRAINT ck_spending_period CHECK (period IN ('day', 'month')),
    CONSTRAINT fk_spending_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON TABLE spending IS 'credits reserved by accounts with a spend limit, per UTC day or month';
CREATE TABLE pumping_finding (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    rule TEXT NOT NULL,
    prefix TEXT NOT NULL,
    phones INTEGER NOT NULL,
    most INTEGER NOT NULL,
    refused BOOLEAN NOT NULL,
    CONSTRAINT pk_pumping_finding PRIMARY KEY (id),
    CONSTRAINT fk_pumping_finding_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_pumping_finding_account_id_id ON pumping_finding (account_id, id);
COMMENT ON COLUMN pumping_finding.prefix IS 'common prefix of the phones';
COMMENT ON COLUMN pumping_finding.phones IS 'phones sent to within the window';
COMMENT ON COLUMN pumping_finding.most IS 'usual number of phones';
COMMENT ON COLUMN pumping_finding.refused IS 'whether sends were refused or only observed';
CREATE TABLE recovery_code (
    person_id UUID NOT NULL,
    code_hash BYTEA NOT NULL,
    CONSTRAINT pk_recovery_code PRIMARY KEY (person_id, code_hash),
    CONSTRAINT fk_recovery_code_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
COMMENT ON TABLE recovery_code IS 'codes that replace a TOTP code once; a used one is deleted';
CREATE TABLE person_identity (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person_id UUID NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_person_identity PRIMARY KEY (issuer, subject),
    CONSTRAINT uq_person_identity_person_id_issuer UNIQUE (person_id, issuer),
    CONSTRAINT fk_person_identity_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
COMMENT ON TABLE person_identity IS 'who people are at an OpenID Connect provider';
CREATE TABLE membership (
    account_id BIGINT NOT NULL,
    person_id UUID NOT NULL,
    role TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    changed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_membership PRIMARY KEY (account_id, person_id),
    CONSTRAINT ck_membership_role CHECK (role IN ('owner', 'sender', 'viewer')),
    CONSTRAINT fk_membership_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT fk_membership_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
CREATE INDEX ix_membership_changed_at ON membership (changed_at);
CREATE INDEX ix_membership_person_id ON membership (person_id);
COMMENT ON TABLE membership IS 'people in accounts, with their roles; an ended one stays';
COMMENT ON COLUMN membership.version IS 'rises with each change; tokens name it';
CREATE TABLE invitation (
    id UUID NOT NULL,
    email TEXT NOT NULL,
    account_id BIGINT,
    role TEXT,
    operator_role TEXT,
    token_hash BYTEA NOT NULL,
    invited_by TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_invitation PRIMARY KEY (id),
    CONSTRAINT ck_invitation_email CHECK (email = lower(email)),
    CONSTRAINT ck_invitation_account_id CHECK ((account_id IS NULL) = (role IS NULL)),
    CONSTRAINT ck_invitation_purpose CHECK (role IS NOT NULL OR operator_role IS NOT NULL),
    CONSTRAINT ck_invitation_role CHECK (role IN ('owner', 'sender', 'viewer')),
    CONSTRAINT ck_invitation_operator_role CHECK (operator_role IN ('admin', 'support')),
    CONSTRAINT fk_invitation_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT uq_invitation_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_invitation_expires_at ON invitation (expires_at);
CREATE INDEX ix_invitation_account_id_id ON invitation (account_id, id);
COMMENT ON TABLE invitation IS 'invitations by link, for an account, for an operator role, or both';
COMMENT ON COLUMN invitation.invited_by IS 'an API key, a person or an operator';
COMMENT ON COLUMN invitation.ended_at IS 'when it was accepted, revoked or replaced';
CREATE TABLE sign_in_link (
    token_hash BYTEA NOT NULL,
    person_id UUID NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_sign_in_link PRIMARY KEY (token_hash),
    CONSTRAINT fk_sign_in_link_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
CREATE INDEX ix_sign_in_link_person_id ON sign_in_link (person_id);
CREATE INDEX ix_sign_in_link_expires_at ON sign_in_link (expires_at);
COMMENT ON TABLE sign_in_link IS 'links that sign a person in once; a used one is deleted';
CREATE TABLE person_session (
    id UUID NOT NULL,
    person_id UUID NOT NULL,
    token_hash BYTEA NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    by_link BOOLEAN NOT NULL,
    address TEXT,
    network TEXT,
    user_agent TEXT,
    CONSTRAINT pk_person_session PRIMARY KEY (id),
    CONSTRAINT fk_person_session_person_id FOREIGN KEY(person_id) REFERENCES person (id),
    CONSTRAINT uq_person_session_token_hash UNIQUE (token_hash)
);
CREATE INDEX ix_person_session_person_id_id ON person_session (person_id, id);
CREATE INDEX ix_person_session_expires_at ON person_session (expires_at);
CREATE INDEX ix_person_session_ended_at ON person_session (ended_at);
COMMENT ON TABLE person_session IS 'sessions of people who signed in';
COMMENT ON COLUMN person_session.by_link IS 'begun by a link, without the password';
COMMENT ON COLUMN person_session.network IS 'the block of addresses of one client that the address is in';
CREATE TABLE erasure (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    phone BIGINT,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    waiting UUID[],
    counts JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    completed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_erasure PRIMARY KEY (id),
    CONSTRAINT ck_erasure_phone CHECK ((phone IS NULL) = (completed_at IS NOT NULL)),
    CONSTRAINT fk_erasure_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_erasure_account_id_phone ON erasure (account_id, phone) WHERE completed_at IS NULL;
CREATE INDEX ix_erasure_account_id_id ON erasure (account_id, id);
CREATE INDEX ix_erasure_due_at ON erasure (due_at) WHERE completed_at IS NULL;
COMMENT ON TABLE erasure IS 'requests to erase a person''s data; the phone is erased with it';
COMMENT ON COLUMN erasure.waiting IS 'batches that workers still have; null: not searched yet';
CREATE TABLE quote (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    fingerprint BYTEA NOT NULL,
    cost BIGINT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_quote PRIMARY KEY (id),
    CONSTRAINT fk_quote_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_quote_expires_at ON quote (expires_at);
COMMENT ON COLUMN quote.fingerprint IS 'hash of the priced request';
CREATE TABLE category_rule (
    account_id BIGINT NOT NULL,
    category TEXT NOT NULL,
    quiet_from SMALLINT,
    quiet_until SMALLINT,
    cap_messages SMALLINT,
    cap_hours SMALLINT,
    CONSTRAINT pk_category_rule PRIMARY KEY (account_id, category),
    CONSTRAINT ck_category_rule_category CHECK (category IN ('transactional', 'marketing')),
    CONSTRAINT ck_category_rule_quiet CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until AND quiet_from BETWEEN 0 AND 1439 AND quiet_until BETWEEN 0 AND 1439),
    CONSTRAINT ck_category_rule_cap CHECK ((cap_messages IS NULL) = (cap_hours IS NULL) AND cap_messages > 0 AND cap_hours BETWEEN 1 AND 744),
    CONSTRAINT fk_category_rule_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON TABLE category_rule IS 'an account''s default rules for sends of a category';
COMMENT ON COLUMN category_rule.quiet_from IS 'minute of the recipient''s day';
CREATE TABLE job_turn (
    kind TEXT NOT NULL,
    account_id BIGINT NOT NULL,
    taken_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_job_turn PRIMARY KEY (kind, account_id),
    CONSTRAINT fk_job_turn_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON TABLE job_turn IS 'whose turn it is with background jobs: worker/jobs/turns.py';
COMMENT ON COLUMN job_turn.taken_at IS 'when a job of the account was begun last';
CREATE TABLE send_rejection (
    send_id UUID NOT NULL,
    entries JSONB NOT NULL,
    CONSTRAINT pk_send_rejection PRIMARY KEY (send_id),
    CONSTRAINT fk_send_rejection_send_id FOREIGN KEY(send_id) REFERENCES send (id)
);
COMMENT ON COLUMN send_rejection.entries IS 'recipients of a bulk send that were not accepted, by index';
CREATE TABLE usage (
    account_id BIGINT NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sender_id TEXT NOT NULL,
    lane SMALLINT NOT NULL,
    country TEXT NOT NULL,
    status message_status NOT NULL,
    messages BIGINT NOT NULL,
    credits BIGINT NOT NULL,
    kept BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_usage PRIMARY KEY (account_id, began_at, sender_id, lane, country, status, kept),
    CONSTRAINT fk_usage_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_usage_began_at ON usage (began_at);
COMMENT ON TABLE usage IS 'messages with a result, by hour; the rows of an hour are replaced together';
COMMENT ON COLUMN usage.began_at IS 'hour in which the sends were accepted';
COMMENT ON COLUMN usage.country IS 'ISO 3166-1, two letters; empty: unknown';
COMMENT ON COLUMN usage.credits IS 'credits of the charged messages';
COMMENT ON COLUMN usage.kept IS 'counts of deleted sends; only added to';
CREATE TABLE webhook (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    url TEXT,
    events TEXT[],
    description TEXT,
    state TEXT DEFAULT 'active' NOT NULL,
    disabled_reason TEXT,
    secret_version SMALLINT DEFAULT 1 NOT NULL,
    secret_key_id BYTEA,
    previous_until TIMESTAMP WITH TIME ZONE,
    oldest_version SMALLINT,
    xid BIGINT NOT NULL,
    event_id UUID NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    failing_since TIMESTAMP WITH TIME ZONE,
    rest_until TIMESTAMP WITH TIME ZONE,
    epoch BIGINT DEFAULT 0 NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_webhook PRIMARY KEY (id),
    CONSTRAINT ck_webhook_state CHECK (state IN ('active', 'disabled', 'deleted')),
    CONSTRAINT fk_webhook_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_webhook_account_id ON webhook (account_id);
CREATE UNIQUE INDEX uq_webhook_callback ON webhook (account_id) WHERE url IS NULL AND state <> 'deleted';
CREATE INDEX ix_webhook_live ON webhook (account_id, id) WHERE state <> 'deleted';
COMMENT ON COLUMN webhook.url IS 'null: each send''s callback_url';
COMMENT ON COLUMN webhook.events IS 'event types to deliver; null: all';
COMMENT ON COLUMN webhook.secret_version IS 'see shared/events/webhooks.py';
COMMENT ON COLUMN webhook.secret_key_id IS 'id of the SECRET_KEY that its secret is derived from; null: of a `callback_url`';
COMMENT ON COLUMN webhook.previous_until IS 'until then deliveries are also signed with the secrets from oldest_version on';
COMMENT ON COLUMN webhook.oldest_version IS 'null: the one before secret_version';
COMMENT ON COLUMN webhook.xid IS 'position in the account''s stream: earlier events were delivered';
COMMENT ON COLUMN webhook.failing_since IS 'no delivery has succeeded since then';
COMMENT ON COLUMN webhook.rest_until IS 'no delivery is attempted until then';
COMMENT ON COLUMN webhook.epoch IS 'fencing token: rises with each claim';
CREATE TABLE contact (
    group_id UUID NOT NULL,
    position BIGINT NOT NULL,
    phone BIGINT NOT NULL,
    fields JSONB,
    tags TEXT[],
    CONSTRAINT pk_contact PRIMARY KEY (group_id, position),
    CONSTRAINT uq_contact_group_id_phone UNIQUE (group_id, phone),
    CONSTRAINT fk_contact_group_id FOREIGN KEY(group_id) REFERENCES contact_group (id)
);
CREATE INDEX ix_contact_tags ON contact USING gin (tags) WHERE tags IS NOT NULL;
COMMENT ON COLUMN contact.position IS 'order in which contacts were added; never reused';
COMMENT ON COLUMN contact.fields IS 'texts by name, for placeholders; null: none';
COMMENT ON COLUMN contact.tags IS 'null: none';
CREATE TABLE contact_import (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    group_id UUID NOT NULL,
    state TEXT NOT NULL,
    country TEXT,
    chunks INTEGER DEFAULT 0 NOT NULL,
    next_chunk INTEGER DEFAULT 0 NOT NULL,
    bytes BIGINT DEFAULT 0 NOT NULL,
    bytes_done BIGINT DEFAULT 0 NOT NULL,
    checkpoint JSONB,
    rows INTEGER DEFAULT 0 NOT NULL,
    added INTEGER DEFAULT 0 NOT NULL,
    changed INTEGER DEFAULT 0 NOT NULL,
    unchanged INTEGER DEFAULT 0 NOT NULL,
    invalid INTEGER DEFAULT 0 NOT NULL,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    worked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_contact_import PRIMARY KEY (id),
    CONSTRAINT ck_contact_import_state CHECK (state IN ('receiving', 'queued', 'running', 'completed', 'failed', 'canceled')),
    CONSTRAINT fk_contact_import_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT fk_contact_import_group_id FOREIGN KEY(group_id) REFERENCES contact_group (id)
);
CREATE INDEX ix_contact_import_account_id_id ON contact_import (account_id, id);
CREATE INDEX ix_contact_import_open ON contact_import (worked_at) WHERE state IN ('receiving', 'queued', 'running');
COMMENT ON TABLE contact_import IS 'a file of contacts that is being imported into a group; each chunk is one transaction';
COMMENT ON COLUMN contact_import.country IS 'country whose national numbers the file may have';
COMMENT ON COLUMN contact_import.chunks IS 'number of chunks';
COMMENT ON COLUMN contact_import.next_chunk IS 'the chunk to import next';
COMMENT ON COLUMN contact_import.checkpoint IS 'how far the file was read, and its format: shared.contacts.csv.Checkpoint';
COMMENT ON COLUMN contact_import.error IS 'why the import failed';
CREATE TABLE delivery (
    webhook_id UUID NOT NULL,
    event_id UUID NOT NULL,
    type TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts SMALLINT NOT NULL,
    next_at TIMESTAMP WITH TIME ZONE,
    url TEXT NOT NULL,
    http_status SMALLINT,
    error TEXT,
    milliseconds INTEGER,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_delivery PRIMARY KEY (webhook_id, event_id),
    CONSTRAINT ck_delivery_state CHECK (state IN ('pending', 'delivered', 'failed')),
    CONSTRAINT ck_delivery_next_at CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    CONSTRAINT fk_delivery_webhook_id FOREIGN KEY(webhook_id) REFERENCES webhook (id)
);
CREATE INDEX ix_delivery_pending ON delivery (webhook_id, next_at) WHERE state = 'pending';
COMMENT ON TABLE delivery IS 'an event delivered to a webhook, with the result';
COMMENT ON COLUMN delivery.next_at IS 'time of the next attempt, while pending';
COMMENT ON COLUMN delivery.milliseconds IS 'duration of the last attempt';
CREATE TABLE import_chunk (
    import_id UUID NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT pk_import_chunk PRIMARY KEY (import_id, number),
    CONSTRAINT fk_import_chunk_import_id FOREIGN KEY(import_id) REFERENCES contact_import (id)
);
COMMENT ON TABLE import_chunk IS 'the rest of a file, in whole lines';
CREATE TABLE import_error (
    import_id UUID NOT NULL,
    line INTEGER NOT NULL,
    value TEXT NOT NULL,
    code TEXT NOT NULL,
    detail TEXT NOT NULL,
    CONSTRAINT pk_import_error PRIMARY KEY (import_id, line),
    CONSTRAINT fk_import_error_import_id FOREIGN KEY(import_id) REFERENCES contact_import (id)
);
CREATE TABLE message_default PARTITION OF message DEFAULT WITH (fillfactor = 60);
ALTER TABLE batch ALTER COLUMN recipients SET STORAGE EXTERNAL;
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the table % is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON ledger, audit_log FROM CURRENT_USER;
CREATE FUNCTION batch_of(message_id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN overlay(message_id::text placing '0000' from 33)::uuid;
CREATE FUNCTION erased_phone(account BIGINT, phone BIGINT, key UUID) RETURNS BIGINT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN -1 - ((('x' || encode(substr(sha256(uuid_send(key) || int8send(account) || int8send(phone)), 1, 8), 'hex'))
                  ::bit(64)::bigint) >> 1 & 4611686018427387903);
INSERT INTO installation DEFAULT VALUES;
INSERT INTO compatibility VALUES ('0001');
INSERT INTO queue_clock (turn) VALUES (extract(epoch FROM clock_timestamp())::bigint * 1000000);
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
