"""What the head of a request may be."""

MOST_HEAD = 32 * 1024
"""Bytes of it."""
MOST_LINE = 8 * 1024
"""Bytes of its URL, or of one of its headers."""
MOST_HEADERS = 100
