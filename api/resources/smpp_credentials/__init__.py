"""Credentials of an account for the SMPP server."""
