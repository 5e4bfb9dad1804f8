"""Moves weeks of messages to files and back: `weeks.py` archives and restores them, `files.py` has the format."""
