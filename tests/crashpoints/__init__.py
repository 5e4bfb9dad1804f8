"""Every crash point in the code, killed, stopped and made to raise, in real processes."""

WHERE_AN_ACCOUNT_LISTENS = ("record.before_commit", "copy.event")
"""Crash points that are only come to where the account of the messages listens to its events."""
WHERE_A_SEND_MAY_BE_STOPPED = ("settle_rest.before_commit", "settle_rest.committed")
"""Crash points of cycles in which something is to be decided at the end, as in all of a send with `stop_if`."""
