"""Rules that a send brings along, as the column `rules` has them; null where there are none.

stop_if   {"failed_share": 0.2, "over": 100}: hold it when more than this share of at least so many has failed
canary    100: so many messages go first, the rest when their receipts are good
quiet     [1260, 480]: from and until which minute of the recipient's day nothing is sent
cap       [3, 168]: at most so many messages of the category to a phone in so many hours
"""

from typing import NotRequired, TypedDict


class StopIf(TypedDict):
    """When a send is to be held."""

    failed_share: float
    over: int


class Rules(TypedDict):
    """The rules of one send."""

    stop_if: NotRequired[StopIf]
    canary: NotRequired[int]
    quiet: NotRequired[list[int]]
    cap: NotRequired[list[int]]
