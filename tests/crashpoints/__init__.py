"""Every crash point in the code, killed, stopped and made to raise, in real processes."""

WHERE_AN_ACCOUNT_LISTENS = ("advance.before_commit", "copy.event")
"""Crash points that are only come to where the account of the messages listens to its events."""
