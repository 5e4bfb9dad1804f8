"""The queue: what waits, and what limits it."""
