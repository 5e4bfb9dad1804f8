"""Makes an accepted send durable: one transaction for the send, its batches, the reserve and the idempotency key."""
