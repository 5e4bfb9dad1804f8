"""Commit accepted sends: the send, its batches, the reserve and the idempotency key, in one transaction."""
