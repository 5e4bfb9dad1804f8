"""Invariants of accounts and of the ledger."""

from typing import Final

from shared.audit.rules.parts import Rule

ACCOUNT_CACHES = """
    WITH books AS (
        SELECT account_id,
               coalesce(sum(amount) FILTER (WHERE credit = 'available'), 0)
                   - coalesce(sum(amount) FILTER (WHERE debit = 'available'), 0) AS available,
               coalesce(sum(amount) FILTER (WHERE credit = 'reserved'), 0)
                   - coalesce(sum(amount) FILTER (WHERE debit = 'reserved'), 0) AS reserved
          FROM ledger GROUP BY account_id
    )
    SELECT 'account ' || a.id AS subject, a.id AS account_id,
           format('available %s and reserved %s, by the ledger %s and %s', a.available, a.reserved,
                  coalesce(b.available, 0), coalesce(b.reserved, 0)) AS detail
      FROM account a LEFT JOIN books b ON b.account_id = a.id
     WHERE (a.available, a.reserved) IS DISTINCT FROM (coalesce(b.available, 0), coalesce(b.reserved, 0))
"""
"""Reads the whole ledger, whose sums the balances of accounts are."""

NOT_NEGATIVE = """
    SELECT 'account ' || id AS subject, id AS account_id,
           format('available %s, reserved %s, credit limit %s', available, reserved, credit_limit) AS detail
      FROM account a
     WHERE reserved < 0 OR available < -GREATEST(credit_limit,
           CASE WHEN available + credit_limit < 0
                THEN (SELECT max(CAST(l.before ->> 'credit_limit' AS bigint)) FROM audit_log l
                       WHERE l.account_id = a.id AND l.action = 'account.changed') END)
"""
"""The table refuses this by a constraint and a trigger, unless somebody has dropped them. A limit may have been lowered
below what the account owed."""

ZERO_SUM = """
    SELECT 'all accounts' AS subject, CAST(NULL AS bigint) AS account_id,
           format('%s were paid in, %s are available or reserved, %s are revenue', paid, held, revenue) AS detail
      FROM (SELECT coalesce(sum(amount) FILTER (WHERE debit = 'funding'), 0)
                       - coalesce(sum(amount) FILTER (WHERE credit = 'funding'), 0) AS paid,
                   coalesce(sum(amount) FILTER (WHERE credit = 'revenue'), 0)
                       - coalesce(sum(amount) FILTER (WHERE debit = 'revenue'), 0) AS revenue FROM ledger) AS books,
           (SELECT coalesce(sum(available + reserved), 0) AS held FROM account) AS accounts
     WHERE paid <> held + revenue
"""
"""Of all accounts together, so that it also finds credits that one account has and another has lost."""

LEDGER_GUARDED = """
    SELECT t.of AS subject, CAST(NULL AS bigint) AS account_id,
           format('the trigger %s is missing or disabled', t.of || t.name) AS detail
      FROM (SELECT * FROM (VALUES ('ledger'), ('audit_log')) AS o (of),
                          (VALUES ('_append_only'), ('_no_truncate')) AS n (name)
            UNION ALL VALUES ('account', '_credit_limit')) AS t (of, name)
     WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t.of::regclass AND g.tgname = t.of || t.name
                                                  AND g.tgenabled IN ('O', 'A'))
"""
"""A trigger whose `tgenabled` is `O` or `A` fires in ordinary sessions."""

LEDGER_SUBJECTS = """
    SELECT 'ledger row ' || l.id AS subject, l.account_id,
           format('%s of %s for the %s %s, which the account does not have', l.kind, l.amount, l.subject_type,
                  l.subject) AS detail
      FROM ledger l
     WHERE CASE l.subject_type
               WHEN 'topup' THEN l.kind NOT IN ('topup', 'reversal')
               WHEN 'adjustment' THEN l.kind <> 'adjustment'
               WHEN 'send' THEN NOT EXISTS (SELECT FROM send s WHERE s.id = l.subject AND s.account_id = l.account_id)
               ELSE NOT EXISTS (SELECT FROM batch b
                                 WHERE b.id = batch_of(l.subject) AND b.account_id = l.account_id) END
        OR (l.kind IN ('topup', 'reversal') AND l.subject_type <> 'topup')
        OR (l.kind = 'adjustment' AND l.subject_type <> 'adjustment')
"""
"""A message is found by its batch, because messages are archived and forgotten."""

REVERSAL_TOPPED_UP = """
    WITH reversed AS (
        SELECT subject, account_id, sum(amount) AS amount FROM ledger WHERE kind = 'reversal' GROUP BY 1, 2
    )
    SELECT 'top-up ' || r.subject AS subject, r.account_id,
           format('%s credits reversed, %s topped up', r.amount, coalesce(t.amount, 0)) AS detail
      FROM reversed r
      LEFT JOIN ledger t ON t.subject = r.subject AND t.kind = 'topup' AND t.account_id = r.account_id
     WHERE r.amount > coalesce(t.amount, 0)
"""
"""A top-up can be reversed in several steps, and only by its own account."""

NO_ORPHANS = """
    SELECT 'batch ' || b.id AS subject, b.account_id, format('of the send %s, which is not there', b.send_id) AS detail
      FROM batch b WHERE NOT EXISTS (SELECT FROM send s WHERE s.id = b.send_id AND s.account_id = b.account_id)
    UNION ALL
    SELECT 'send ' || s.id, s.account_id, 'its account is not there'
      FROM send s WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = s.account_id)
    UNION ALL
    SELECT 'ledger row ' || l.id, l.account_id, 'its account is not there'
      FROM ledger l WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = l.account_id)
"""
"""These tables have no foreign keys, which every accepted send would pay for."""

SETTLED_ONCE = """
    SELECT 'message ' || subject AS subject, min(account_id) AS account_id,
           'settled as ' || string_agg(kind || ' of ' || amount, ' and ' ORDER BY id) AS detail
      FROM ledger l
     WHERE subject_type = 'message' AND kind IN ('capture', 'release')
       AND (:full OR subject >= CAST(:since AS uuid) OR created_at > now() - CAST(:span AS interval))
     GROUP BY l.subject HAVING count(*) > 1
"""
"""Only messages that were in doubt have entries of their own; others are settled with their batch."""

REFUND_CAPTURED = """
    WITH refunded AS (
        SELECT batch_of(subject) AS batch_id, min(account_id) AS account_id, sum(amount) AS amount
          FROM ledger WHERE kind = 'refund' GROUP BY 1
    )
    SELECT 'batch ' || r.batch_id AS subject, r.account_id,
           format('%s credits refunded, %s captured', r.amount, coalesce(c.amount, 0)) AS detail
      FROM refunded r
     CROSS JOIN LATERAL (
        SELECT sum(l.amount) AS amount FROM ledger l
         WHERE l.kind = 'capture' AND l.subject >= r.batch_id
           AND l.subject <= overlay(r.batch_id::text placing 'ffff' from 33)::uuid
     ) AS c
     WHERE r.amount > coalesce(c.amount, 0)
    UNION ALL
    SELECT 'message ' || f.subject, f.account_id, format('%s credits refunded and released', f.amount)
      FROM ledger f JOIN ledger l ON l.subject = f.subject AND l.kind = 'release'
     WHERE f.kind = 'refund' AND f.subject_type = 'message'
"""
"""By batches, because the credits of most messages are captured with their batch."""

SPENDING = """
    SELECT 'account ' || s.account_id AS subject, s.account_id,
           format('%s credits are counted as spent in the %s of %s, by the ledger %s', s.credits, s.period, s.begins,
                  l.most) AS detail
      FROM spending s
     CROSS JOIN LATERAL (
        SELECT s.begins AT TIME ZONE 'UTC' AS begins,
               (s.begins + CAST('1 ' || s.period AS interval)) AT TIME ZONE 'UTC' AS ends
     ) AS p
     CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount) FILTER (WHERE kind = 'reserve'), 0) AS most,
               coalesce(sum(CASE kind WHEN 'reserve' THEN amount ELSE -amount END)
                   FILTER (WHERE kind = 'release' OR created_at BETWEEN p.begins + interval '1 min'
                                                                    AND p.ends - interval '1 min'), 0) AS least
          FROM ledger
         WHERE account_id = s.account_id AND (kind = 'reserve' OR kind = 'release' AND step > 0)
           AND subject_type = 'send'
           AND created_at BETWEEN p.begins - interval '1 min' AND p.ends + interval '1 min'
     ) AS l
     WHERE s.credits NOT BETWEEN l.least AND l.most
"""
"""An entry within a minute of midnight may have been counted for either day. What a group gave back (steps above 0)
makes room again, unless it was reserved in an earlier period."""

WORLDS = """
    SELECT 'key ' || k.id AS subject, k.account_id, 'it is a test key of a live account, or the reverse' AS detail
      FROM api_key k JOIN account a ON a.id = k.account_id WHERE k.test <> (a.sandbox_of IS NOT NULL)
    UNION ALL
    SELECT 'send ' || s.id, s.account_id, 'it is live, of a sandbox; or the reverse'
      FROM send s JOIN account a ON a.id = s.account_id
     WHERE s.test <> (a.sandbox_of IS NOT NULL)
       AND (:full OR s.id >= CAST(:since AS uuid))
"""
"""A test key sends with the credits of its sandbox, and with no others."""

RULES: Final = (
    Rule(
        "account_caches",
        "An account's available and reserved credits are the sums of its ledger.",
        ACCOUNT_CACHES,
        freezes=True,
    ),
    Rule(
        "not_negative",
        "No account owes more than a credit limit that it had, or has negative credits reserved.",
        NOT_NEGATIVE,
        freezes=True,
    ),
    Rule("spending", "Counted spending equals the ledger's reservations, within a minute around midnight.", SPENDING),
    Rule("zero_sum", "All credits paid in are available, reserved or revenue.", ZERO_SUM),
    Rule("ledger_guarded", "Ledger, audit log and credit limits are guarded by the database.", LEDGER_GUARDED),
    Rule(
        "ledger_subjects",
        "Every ledger row belongs to a top-up, adjustment, send, batch or message of its account.",
        LEDGER_SUBJECTS,
        full_only=True,
    ),
    Rule("no_orphans", "Every batch has its send, every send and ledger row its account.", NO_ORPHANS, full_only=True),
    Rule("worlds", "Test keys and their sends belong to sandboxes, all others to live accounts.", WORLDS),
    Rule("settled_once", "Every message in doubt was captured or released at most once.", SETTLED_ONCE),
    Rule("reversal_topped_up", "Only credits of a top-up are reversed.", REVERSAL_TOPPED_UP),
    Rule("refund_captured", "Only captured credits are refunded.", REFUND_CAPTURED),
)
