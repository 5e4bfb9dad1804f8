"""Sender IDs: the queue of requests, and decisions."""
