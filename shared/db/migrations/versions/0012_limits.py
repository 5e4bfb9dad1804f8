"""Limits of accounts: requests, spending, destinations, and a guard against pumping."""

from alembic import op

revision = "0012"
down_revision = "0011"

SCHEMA = """
ALTER TABLE account
    ADD COLUMN spend_day BIGINT,
    ADD COLUMN spend_month BIGINT,
    ADD CONSTRAINT ck_account_spend CHECK (spend_day > 0 AND spend_month > 0);
COMMENT ON COLUMN account.spend_day IS 'credits that its sends may reserve on a day of UTC; null: all';
COMMENT ON COLUMN account.spend_month IS 'credits that its sends may reserve in a month of UTC; null: all';
CREATE TABLE account_limit (
    account_id BIGINT NOT NULL,
    requests_per_second INTEGER,
    destinations TEXT[],
    pumping TEXT DEFAULT 'off' NOT NULL,
    CONSTRAINT pk_account_limit PRIMARY KEY (account_id),
    CONSTRAINT ck_account_limit_requests_per_second CHECK (requests_per_second > 0),
    CONSTRAINT ck_account_limit_pumping CHECK (pumping IN ('off', 'watch', 'block')),
    CONSTRAINT fk_account_limit_account_id FOREIGN KEY(account_id) REFERENCES account (id)
);
COMMENT ON COLUMN account_limit.destinations IS 'prefixes with which alone a phone may begin; null: all';
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
COMMENT ON TABLE spending IS 'what sends of accounts with a spend limit reserved, by day or month of UTC';
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
COMMENT ON COLUMN pumping_finding.prefix IS 'what the phones begin with';
COMMENT ON COLUMN pumping_finding.phones IS 'phones that were sent to within the window';
COMMENT ON COLUMN pumping_finding.most IS 'phones that are usual';
COMMENT ON COLUMN pumping_finding.refused IS 'whether sends were refused, or only watched';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
