"""Webhooks and their deliveries, and the callback_url of a send. Keys that may do everything may do this."""

from alembic import op

revision = "0014"
down_revision = "0013"

SCHEMA = """
ALTER TABLE send ADD COLUMN callback_url TEXT;
CREATE TABLE webhook (
    id UUID NOT NULL,
    account_id BIGINT NOT NULL,
    url TEXT,
    events TEXT[],
    description TEXT,
    state TEXT DEFAULT 'active' NOT NULL,
    disabled_reason TEXT,
    secret_version SMALLINT DEFAULT 1 NOT NULL,
    previous_until TIMESTAMP WITH TIME ZONE,
    xid BIGINT NOT NULL,
    event_id UUID NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    failing_since TIMESTAMP WITH TIME ZONE,
    rest_until TIMESTAMP WITH TIME ZONE,
    epoch INTEGER DEFAULT 0 NOT NULL,
    lease_until TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_webhook PRIMARY KEY (id),
    CONSTRAINT ck_webhook_state CHECK (state IN ('active', 'disabled', 'deleted')),
    CONSTRAINT fk_webhook_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
CREATE INDEX ix_webhook_account_id ON webhook (account_id);
CREATE UNIQUE INDEX uq_webhook_callback ON webhook (account_id) WHERE url IS NULL AND state <> 'deleted';
COMMENT ON COLUMN webhook.url IS 'null: each send''s callback_url';
COMMENT ON COLUMN webhook.events IS 'the types wanted; null: all';
COMMENT ON COLUMN webhook.secret_version IS 'see shared/events/webhooks.py';
COMMENT ON COLUMN webhook.previous_until IS 'until then posts are also signed with the secret of the version before';
COMMENT ON COLUMN webhook.xid IS 'position in the account''s stream: events up to it were posted';
COMMENT ON COLUMN webhook.failing_since IS 'since then no post has succeeded';
COMMENT ON COLUMN webhook.rest_until IS 'until then it is left alone';
COMMENT ON COLUMN webhook.epoch IS 'fences who lost the lease';
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
COMMENT ON TABLE delivery IS 'one row for an event that was posted to a webhook, written with its result';
COMMENT ON COLUMN delivery.next_at IS 'when it is tried again; of those that are pending';
COMMENT ON COLUMN delivery.milliseconds IS 'how long the last attempt took';
UPDATE api_key SET scopes = scopes || ARRAY['webhooks:read', 'webhooks:write']
 WHERE scopes @> ARRAY['sms:send', 'sms:read', 'balance:read', 'groups:read'];
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
