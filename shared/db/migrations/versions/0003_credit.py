"""Credit limits, adjustments and spend thresholds.

A credit limit may be lowered below what an account owes, so what a reserve may take is no check of the row: a trigger
compares it with the row before. It also refuses what processes of the release before reserve for a suspended account.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
compatible = True

CREDIT = """
ALTER TABLE account
    ADD COLUMN credit_limit BIGINT DEFAULT 0 NOT NULL,
    ADD COLUMN spend_threshold BIGINT,
    ADD COLUMN spend_told DATE,
    ADD CONSTRAINT ck_account_credit_limit CHECK (credit_limit >= 0),
    ADD CONSTRAINT ck_account_spend_threshold CHECK (spend_threshold > 0),
    DROP CONSTRAINT ck_account_available;
COMMENT ON COLUMN account.credit_limit IS 'credits that it may owe: `available` may be as far below 0';
COMMENT ON COLUMN account.spend_threshold IS 'credits charged in a UTC month that are reported; null: none';
COMMENT ON COLUMN account.spend_told IS 'the month for which the threshold was reported, by its first day';
CREATE FUNCTION refuse_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE check_violation USING CONSTRAINT = 'ck_account_available', MESSAGE = format(
        'account %s is %s and may owe %s: ck_account_available refuses %s', NEW.id, NEW.state, NEW.credit_limit, NEW.available);
END $$;
CREATE TRIGGER account_credit_limit AFTER UPDATE OF available, reserved ON account FOR EACH ROW
    WHEN (NEW.available < OLD.available AND NEW.available + NEW.credit_limit < 0
          OR NEW.reserved > OLD.reserved AND NEW.state <> 'active')
    EXECUTE FUNCTION refuse_debt();
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
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(CREDIT)
