"""Tokens: issue and revoke."""
