"""The log of changes."""
