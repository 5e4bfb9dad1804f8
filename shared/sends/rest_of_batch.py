"""The order of what is left of a batch: messages that are to be tried again for their own sake come last.

Such a message was certainly not taken, and the reason lies with it alone: its recipient's queue is full, or the carrier
failed it. It leaves the order of its batch and holds back nothing. When only such messages are left, the round is over:
they wait, longer after each round, and are tried again in the next one. So all messages of a round have had as many
attempts as there were rounds before it.
"""

from collections.abc import Sequence
from typing import NamedTuple

PAUSES = (2.0, 10.0, 60.0, 300.0, 1800.0)
"""Seconds between a round and the next one; the last for all later rounds."""
FIRST_ROUNDS = 3
"""Rounds without a pause where tasks are eager: nothing but a later request would wake a batch that waits."""


class Rest(NamedTuple):
    """What is left of a batch, as its columns store it."""

    next_index: int
    retry_indexes: list[int]
    postponed: int
    """How many at the end of `retry_indexes` have been refused in this round; 0 if a round begins with them."""
    attempts: int
    pause: float = 0.0
    """Seconds before it may be claimed."""


def rest_of(
    size: int,
    next_index: int,
    unsent: list[int],
    postponed: list[int],
    attempts: int,
    after: Sequence[float] = PAUSES,
) -> Rest:
    """The rest of a batch of `size` messages: those from `next_index` on, the `unsent` ones before it, the postponed.

    `attempts` is how often each of the unsent ones was tried in earlier rounds. The pauses `after` rounds are seconds.
    """
    if not postponed:
        return Rest(next_index, unsent, 0, attempts if unsent else 0)
    if first := [*unsent, *range(next_index, size + 1)]:
        return Rest(size + 1, first + postponed, len(postponed), attempts)
    return Rest(size + 1, postponed, 0, attempts + 1, after[min(attempts, len(after) - 1)])


def pauses(eager: bool, several: bool) -> Sequence[float]:
    """PAUSES, or those of eager tasks. With several carriers, another one may take the messages at once."""
    if eager:
        return (0.0,) * FIRST_ROUNDS + PAUSES[FIRST_ROUNDS:]
    return (0.0, *PAUSES) if several else PAUSES


def split_postponed(retry_indexes: list[int], postponed: int) -> tuple[list[int], list[int]]:
    """The indexes in `retry_indexes` that are sent in this round, and those at its end that have been refused in it."""
    end = max(0, len(retry_indexes) - postponed)
    return retry_indexes[:end], retry_indexes[end:]
