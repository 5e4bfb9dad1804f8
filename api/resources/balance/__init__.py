"""Balance and ledger."""
