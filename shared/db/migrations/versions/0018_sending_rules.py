"""Quotes that hold their price; quiet hours and caps of accounts, and what was sent under a cap."""

from alembic import op

revision = "0018"
down_revision = "0017"

SCHEMA = """
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
COMMENT ON COLUMN quote.fingerprint IS 'of the request that was priced';
CREATE TABLE category_rule (
    account_id BIGINT NOT NULL,
    category TEXT NOT NULL,
    quiet_from SMALLINT,
    quiet_until SMALLINT,
    cap_most SMALLINT,
    cap_hours SMALLINT,
    CONSTRAINT pk_category_rule PRIMARY KEY (account_id, category),
    CONSTRAINT fk_category_rule_account_id FOREIGN KEY(account_id) REFERENCES account (id),
    CONSTRAINT ck_category_rule_category CHECK (category IN ('transactional', 'marketing')),
    CONSTRAINT ck_category_rule_quiet CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until
        AND quiet_from BETWEEN 0 AND 1439 AND quiet_until BETWEEN 0 AND 1439),
    CONSTRAINT ck_category_rule_cap CHECK ((cap_most IS NULL) = (cap_hours IS NULL) AND cap_most > 0
        AND cap_hours BETWEEN 1 AND 744)
);
COMMENT ON TABLE category_rule IS 'what an account''s sends of a category bring along unless they say otherwise';
COMMENT ON COLUMN category_rule.quiet_from IS 'minute of the recipient''s day';
CREATE TABLE capped (
    account_id BIGINT NOT NULL,
    lane SMALLINT NOT NULL,
    phone BIGINT NOT NULL,
    message_id UUID NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_capped PRIMARY KEY (account_id, lane, phone, message_id)
);
CREATE INDEX ix_capped_at ON capped (at);
COMMENT ON TABLE capped IS 'messages that were given to a carrier, or are being, under a cap';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
