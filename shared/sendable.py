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
