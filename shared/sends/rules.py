"""A send's own rules, as the column `rules` stores them; null if it has none.

stop_if   {"failed_share": 0.2, "min_messages": 100}: hold it when more than 20 % of at least 100 messages have failed
canary    100: send 100 messages first, and the rest once enough of them are delivered
quiet     [1260, 480]: send nothing from minute 1260 to minute 480 of the recipient's day
cap       [3, 168]: send at most 3 messages of the category to a phone in 168 hours
"""

from typing import NotRequired, TypedDict


class StopIf(TypedDict):
    """When to hold a send."""

    failed_share: float
    min_messages: int


class Rules(TypedDict):
    """The rules of one send."""

    stop_if: NotRequired[StopIf]
    canary: NotRequired[int]
    quiet: NotRequired[list[int]]
    cap: NotRequired[list[int]]
