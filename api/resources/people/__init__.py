"""People of an account."""
