"""What charged messages brought and cost, by hour, account, country and carrier."""

from alembic import op

revision = "0006"
down_revision = "0005"
compatible = True

SCHEMA = """
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
"""


def upgrade() -> None:
    op.execute(SCHEMA)
