"""Callbacks of HTTP carriers: receipts and inbound messages."""
