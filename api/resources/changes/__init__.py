"""The account's log of changes."""
