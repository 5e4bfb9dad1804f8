"""Accounts on a real Postgres."""
