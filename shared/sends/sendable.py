"""What may be sent now, as conditions for every query that asks."""

from shared.guard import INCARNATION

GOES_ON = """
    s.state NOT IN ('paused', 'held', 'canceled') AND s.expires_at > clock_timestamp()
    AND (SELECT a.state FROM account a WHERE a.id = s.account_id) IS DISTINCT FROM 'frozen'
"""
"""Of a send `s`: nobody stopped it, it is still valid, and its account's books are in order. The account is looked up
for each row, not joined: Postgres thinks so much of an anti-join that it would read all sends to find the queue."""

SENDABLE = f"""
    {GOES_ON} AND (s.paced_until IS NULL OR s.paced_until <= clock_timestamp())
    AND NOT EXISTS (SELECT FROM installation i WHERE i.held_since IS NOT NULL OR i.checked <> {INCARNATION})
"""
"""Of a send `s`: it goes on, its own rate allows more now, and the database has not gone back in time."""

AWAITS_CARRIER = "b.state = 'waiting' AND b.carrier IS NOT NULL"
"""Of a batch `b`: it is out of the queue because all carriers that may have it are closed; `carrier` is one of them."""

AWAITED_SINCE = """
    GREATEST(s.created_at, s.send_at, (SELECT min(r.since) FROM carrier_report r
                                        WHERE r.carrier = split_part(b.carrier, '/', 1) AND r.state <> 'ready'))
"""
"""Since when it does, of its send `s`. Its own `due_at` is when it is looked at again."""
