"""An account's limits."""
