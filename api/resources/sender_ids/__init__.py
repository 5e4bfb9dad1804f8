"""Sender IDs."""
