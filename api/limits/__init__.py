"""Limits on the requests of an account, a key or an address."""
