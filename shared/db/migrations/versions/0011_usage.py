"""Counts of messages by hour, account, sender ID, category, country and status."""

from alembic import op

revision = "0011"
down_revision = "0010"

SCHEMA = """
CREATE TABLE usage_hour (
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE NOT NULL,
    counted_at TIMESTAMP WITH TIME ZONE,
    counters BIGINT[],
    final BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_usage_hour PRIMARY KEY (began_at)
);
CREATE INDEX ix_usage_hour_due_at ON usage_hour (due_at) WHERE NOT final;
COMMENT ON TABLE usage_hour IS 'the hours in which sends were accepted, UTC';
COMMENT ON COLUMN usage_hour.due_at IS 'when its sends are looked at again';
COMMENT ON COLUMN usage_hour.counters IS 'sums over its sends when it was counted';
COMMENT ON COLUMN usage_hour.final IS 'nothing of it changes any more';
CREATE TABLE usage (
    account_id BIGINT NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    sender_id TEXT NOT NULL,
    lane SMALLINT NOT NULL,
    country TEXT NOT NULL,
    status message_status NOT NULL,
    messages BIGINT NOT NULL,
    credits BIGINT NOT NULL,
    CONSTRAINT pk_usage PRIMARY KEY (account_id, began_at, sender_id, lane, country, status),
    CONSTRAINT fk_usage_account_id FOREIGN KEY (account_id) REFERENCES account (id)
);
CREATE INDEX ix_usage_began_at ON usage (began_at);
COMMENT ON TABLE usage IS 'messages with a result, by hour; the rows of an hour are replaced together';
COMMENT ON COLUMN usage.began_at IS 'the hour in which its sends were accepted';
COMMENT ON COLUMN usage.country IS 'ISO 3166-1, two letters; empty: unknown';
COMMENT ON COLUMN usage.credits IS 'of its charged messages';
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
