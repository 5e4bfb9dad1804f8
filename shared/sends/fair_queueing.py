"""Fair order among accounts: start-time fair queueing in one sortable number.

Every batch gets a *turn*, in virtual microseconds, and workers always claim the smallest. A batch begins at the later
of the queue's clock (the smallest turn that is not over) and the end of the account's previous batch in that lane. It
ends after its cost, divided by the weights of its lane and account. Its turn is its begin plus the cost of its first
segments, and advances with each part that is sent. So an account that queued ten million messages has turns far in the
future, and the first batch of another account comes right after what is being sent now, however large the batches are.
A lane of greater weight comes proportionally sooner, and no lane can starve another.

Source: Goyal, Vin, Cheng, "Start-time Fair Queuing", SIGCOMM 1996.
"""

import time

from sqlalchemy import Connection, text

from shared.lifecycle import LANE_WEIGHTS

MICROSECONDS_PER_SEGMENT = 10
"""Nominal cost in the last lane. It corresponds to 100,000 segments per second, more than any real rate, so that the
clock of an idle queue, which is the time of day, never stays behind an account's last turn for long."""
FIRST_SEGMENTS = 100
"""A batch's turn is its begin plus the cost of so many of its segments: a smaller batch comes sooner, one of a more
urgent lane much sooner."""

MIN_TURN = """
    LEAST((SELECT min(turn) FROM batch WHERE state = 'queued' {which}),
          (SELECT min(turn) FROM batch WHERE state = 'sending' {which}))
"""
CLOCK = MIN_TURN.format(which="")
"""SQL: the smallest turn that is not over, or null. Batches in a cycle count: they return with a turn only a little
later, and a newcomer would otherwise wait until they are done."""
CLOCK_FROM = f"coalesce({MIN_TURN.format(which='AND turn >= %(clock)s')}, {CLOCK})"
"""SQL: the same, given a recent value of the clock. The index begins with all turns that ended since the last vacuum,
and skipping these takes as long as accepting several sends."""
SMALLEST = text(f"SELECT {CLOCK}")
"""The queue's clock. As SQL, because the statements that accept sends contain it."""


def clock(connection: Connection) -> int:
    """The queue's clock: the smallest turn that is not over, or the time of day in microseconds if there is none."""
    smallest = connection.execute(SMALLEST).scalar()
    return int(smallest) if smallest is not None else time.time_ns() // 1000


class CachedClock:
    """A recent value of the queue's clock in one process, from which to look for the current one.

    Turns only end or advance. The exception are batches that waited for their time or were stopped, which may be before
    the clock; so the whole queue is searched again every CACHE_SECONDS.
    """

    CACHE_SECONDS = 0.25

    def __init__(self) -> None:
        self._cached = 0
        self._until = float("-inf")

    def begin(self) -> int:
        """The turn from which to search; 0 means from the first."""
        return self._cached if time.monotonic() < self._until else 0

    def note(self, begin: int, value: int) -> None:
        """Note the value found by a search from `begin`."""
        if begin == 0:
            self._cached, self._until = value, time.monotonic() + self.CACHE_SECONDS


def cost(segments: int, lane: int, weight: int = 1) -> int:
    """Virtual microseconds that `segments` take in a lane, for an account of that weight; at least 1."""
    return max(1, segments * MICROSECONDS_PER_SEGMENT // (LANE_WEIGHTS[lane] * weight))


def turn(begin: int, segments: int, lane: int, weight: int = 1) -> int:
    """The turn of a batch of `segments` that begins at `begin`."""
    return begin + cost(min(segments, FIRST_SEGMENTS), lane, weight)


FIRST_COSTS = [cost(FIRST_SEGMENTS, lane) for lane in range(len(LANE_WEIGHTS))]
