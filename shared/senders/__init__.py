"""Sender IDs and who approves them."""
