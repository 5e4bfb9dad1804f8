"""Verifications on a real Postgres."""
