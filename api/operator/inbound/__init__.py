"""Inbound messages to numbers that belong to no account."""
