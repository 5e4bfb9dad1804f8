"""Inbound messages."""
