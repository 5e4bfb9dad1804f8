"""What may be sent now, as one condition for every query that asks."""

SENDABLE = """
    s.state NOT IN ('paused', 'held', 'canceled') AND s.expires_at > clock_timestamp()
    AND (s.paced_until IS NULL OR s.paced_until <= clock_timestamp())
    AND NOT EXISTS (SELECT FROM account a WHERE a.id = s.account_id AND a.state = 'frozen')
"""
"""Of a send `s`: nobody stopped it, it is still valid, its own rate allows it, and its account's books are in order."""
