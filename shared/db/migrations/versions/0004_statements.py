"""Statements of accounts, a month each."""

from alembic import op

revision = "0004"
down_revision = "0003"
compatible = True

STATEMENT = """
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
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(STATEMENT)
