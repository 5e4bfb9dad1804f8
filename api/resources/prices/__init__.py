"""The prices of the account."""
