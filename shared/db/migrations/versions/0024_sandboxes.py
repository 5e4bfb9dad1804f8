"""A sandbox is an account of its own: test keys get one, with what they made as far as that is cheap.

Moved are the keys, their kept answers, and what they have sent that is not over. What is over stays in the history of
the live account, marked `test`, as moving it would write a large table anew. It took no credits, so the books agree.
Tokens of test keys from before are refused: whoever holds one signs in again.
"""

from alembic import op

revision = "0024"
down_revision = "0023"

SCHEMA = """
ALTER TABLE account ADD COLUMN sandbox_of BIGINT;
COMMENT ON COLUMN account.sandbox_of IS 'the live account whose test keys work here; null: this is a live account';
ALTER TABLE account ADD CONSTRAINT uq_account_sandbox_of UNIQUE (sandbox_of);
ALTER TABLE account ADD CONSTRAINT fk_account_sandbox_of FOREIGN KEY (sandbox_of) REFERENCES account (id);
ALTER TABLE account ADD CONSTRAINT ck_account_sandbox_of CHECK (sandbox_of <> id);
COMMENT ON COLUMN send.price IS 'credits for one message; 0 with a test key before there were sandboxes';

INSERT INTO account (name, sandbox_of, state, low_balance_threshold, country, spend_day, spend_month, retention_days)
SELECT a.name || CASE WHEN EXISTS (SELECT FROM account o WHERE o.name = a.name || ' (sandbox)')
                      THEN ' (sandbox of ' || a.id || ')' ELSE ' (sandbox)' END,
       a.id, a.state, a.low_balance_threshold, a.country, a.spend_day, a.spend_month, a.retention_days
  FROM account a WHERE EXISTS (SELECT FROM api_key k WHERE k.account_id = a.id AND k.test);

INSERT INTO ledger (account_id, kind, debit, credit, amount, subject_type, subject, reason)
SELECT id, 'topup', 'funding', 'available', 1000000, 'topup', gen_random_uuid(), 'play credits'
  FROM account WHERE sandbox_of IS NOT NULL;
UPDATE account SET available = 1000000 WHERE sandbox_of IS NOT NULL;

INSERT INTO account_limit (account_id, requests_per_second, destinations)
SELECT a.id, l.requests_per_second, l.destinations
  FROM account a JOIN account_limit l ON l.account_id = a.sandbox_of;
INSERT INTO category_rule (account_id, category, quiet_from, quiet_until, cap_most, cap_hours)
SELECT a.id, r.category, r.quiet_from, r.quiet_until, r.cap_most, r.cap_hours
  FROM account a JOIN category_rule r ON r.account_id = a.sandbox_of;
INSERT INTO sender_id (account_id, sender_id, state, decided_at)
SELECT a.id, s.sender_id, 'approved', clock_timestamp()
  FROM account a JOIN sender_id s ON s.account_id = a.sandbox_of AND s.state = 'approved';

UPDATE api_key k SET account_id = a.id FROM account a WHERE a.sandbox_of = k.account_id AND k.test;
UPDATE idempotency i SET account_id = a.id
  FROM account a
 WHERE a.sandbox_of = i.account_id
   AND (EXISTS (SELECT FROM api_key k WHERE k.id = i.api_key_id AND k.account_id = a.id)
        OR i.path LIKE '/api/v1/sms/send%' AND i.answer LIKE '%"test":true%');
WITH moved AS (
    UPDATE send s SET account_id = a.id
      FROM account a WHERE a.sandbox_of = s.account_id AND s.test AND s.completed_at IS NULL
    RETURNING s.id, s.account_id
)
UPDATE batch b SET account_id = m.account_id FROM moved m WHERE b.send_id = m.id;
"""


def upgrade() -> None:
    op.get_bind().connection.cursor().execute(SCHEMA)
