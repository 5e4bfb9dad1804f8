"""SQL conditions for what may be sent now."""

from sqlalchemy import func

from shared.db.tables.sends import batch
from shared.guard import INCARNATION

MAY_CONTINUE = """
    s.state NOT IN ('paused', 'held', 'canceled') AND s.expires_at > clock_timestamp()
    AND (SELECT a.state FROM account a WHERE a.id = s.account_id) IS DISTINCT FROM 'frozen'
"""
"""A send `s` is not stopped or expired, and its account is not frozen. The account is looked up for each row: with an
anti-join, Postgres would read all sends to find the queue."""

RATE_ALLOWS = """(s.paced_until IS NULL OR s.paced_until <= clock_timestamp()
                   OR s.paced_until > clock_timestamp() + interval '2 minutes')"""
"""SQL: a send `s` has no rate of its own, or the rate allows more now. A message takes less than two minutes of the
slowest rate, so a send that waits longer was paced before the clock of the database was set back."""

SENDABLE = f"""
    {MAY_CONTINUE} AND {RATE_ALLOWS}
    AND NOT EXISTS (SELECT FROM installation i WHERE i.held_since IS NOT NULL OR i.checked <> {INCARNATION})
"""
"""A send `s` goes on, its own rate allows more now, and the database has not lost commits."""

COMPETES = f"{MAY_CONTINUE} AND (s.rate IS NULL OR s.rate >= 4 * s.segments)"
"""A send `s` goes on, and is not so slow by a rate of its own that it takes fewer than four messages a second, whatever
waits beside it."""

MESSAGES_LEFT = "(b.size - b.next_index + 1 + coalesce(cardinality(b.retry_indexes), 0))"
"""SQL: how many messages of batch `b` have no result yet."""
MESSAGES_LEFT_OF_BATCH = (
    batch.c.size - batch.c.next_index + 1 + func.coalesce(func.cardinality(batch.c.retry_indexes), 0)
)
"""The same, for statements that are not text."""
AWAITS_CARRIER = "b.state = 'waiting' AND b.carrier IS NOT NULL"
"""A batch `b` waits because all carriers that may take it are unavailable; `carrier` is one of them."""

MAX_REPORT_AGE = 5
"""Seconds; older reports of workers about their carriers are ignored."""
REPORT_AHEAD = 60
"""Seconds; a report dated more than this ahead is from before the clock of the database was set back."""

UNAVAILABLE_ONLY_CARRIER = f"""
    SELECT min(carrier) AS carrier FROM carrier_report
     WHERE reported_at > clock_timestamp() - interval '{MAX_REPORT_AGE} seconds'
       AND reported_at <= clock_timestamp() + interval '{REPORT_AHEAD} seconds'
    HAVING count(DISTINCT carrier) = 1 AND bool_and(state <> 'ready')
"""
"""The installation's only carrier, if it is unavailable in all workers."""

AWAITS_ONLY_CARRIER = f"""
    b.state = 'queued' AND NOT s.test AND {RATE_ALLOWS}
    AND EXISTS ({UNAVAILABLE_ONLY_CARRIER})
"""
"""A batch `b` of a send `s` waits for the only carrier, which is unavailable. It stays in the queue: it has no other
way."""

AWAITED_SINCE = """
    GREATEST(s.created_at, s.send_at, (SELECT min(r.since) FROM carrier_report r
                                        WHERE r.carrier = split_part(b.carrier, '/', 1) AND r.state <> 'ready'))
"""
"""Since when it waits, with its send `s`. Its `due_at` is when it is routed again."""
