"""Webhooks of an account."""
