"""Top-ups, their reversals, and refunds."""
