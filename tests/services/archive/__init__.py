"""Weeks of messages that are moved to files and back."""
