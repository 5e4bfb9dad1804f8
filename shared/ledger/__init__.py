"""Money: the ledger and spend limits."""
