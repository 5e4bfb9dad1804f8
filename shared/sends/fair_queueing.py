"""Fair order among accounts: start-time fair queueing in one sortable number.

Every batch gets a *turn*, in virtual microseconds, and workers always take the smallest. A batch begins at the later of
the queue's clock (the smallest turn that is not over) and the end of the account's last batch in that lane, and ends
after its cost divided by the weight of its lane and account. Its turn is a little after its begin, by what its first
segments cost, and moves on with each part that is sent. So an account that queued ten million messages has turns far
ahead, and the next account's first batch comes right after what is being sent now, however big the batches are. A lane
of greater weight comes proportionally sooner, and no lane can starve another.

Source: Goyal, Vin, Cheng, "Start-time Fair Queuing", SIGCOMM 1996.
"""

import time

from sqlalchemy import Connection, text

from shared.lifecycle import LANE_WEIGHTS

MICROSECONDS_PER_SEGMENT = 10
"""Nominal cost in the last lane: above any real rate (100,000 segments/s), so that an idle queue's clock, which is
the time of day, never falls behind an account's last turn for long."""
FIRST = 100
"""Segments of a batch that come before its turn: a smaller one comes sooner, one of a more urgent lane much sooner."""

MIN_TURN = """
    LEAST((SELECT min(turn) FROM batch WHERE state = 'queued' {which}),
          (SELECT min(turn) FROM batch WHERE state = 'sending' {which}))
"""
CLOCK = MIN_TURN.format(which="")
"""SQL: the smallest turn that is not over; null when there is none. What is being sent counts, because it comes back
with a turn only a little later, and who comes now would wait until it is done."""
CLOCK_FROM = f"coalesce({MIN_TURN.format(which='AND turn >= %(clock)s')}, {CLOCK})"
"""SQL: the same for who knows what the clock said a moment ago. The index begins with the turns that are over, as many
as there were since the table was vacuumed last, and to pass them takes as long as to accept several sends."""
SMALLEST = text(f"SELECT {CLOCK}")


def clock(connection: Connection) -> int:
    """The queue's clock: the smallest turn that is not over, or the time of day in microseconds when all are."""
    waiting = connection.execute(SMALLEST).scalar()
    return int(waiting) if waiting is not None else time.time_ns() // 1000


class SeenClock:
    """What the queue's clock said a moment ago, of one process: where to begin to look for what it says now.

    Turns only end or move on; one that is before the clock is of a batch that waited for its time or was stopped, and
    so the whole queue is looked through again every FRESH seconds.
    """

    FRESH = 0.25

    def __init__(self) -> None:
        self._cached = 0
        self._until = float("-inf")

    def begin(self) -> int:
        """The turn from which to look; 0 is from the first."""
        return self._cached if time.monotonic() < self._until else 0

    def note(self, begin: int, value: int) -> None:
        """The clock was looked for from there, and said that."""
        if begin == 0:
            self._cached, self._until = value, time.monotonic() + self.FRESH


def cost(segments: int, lane: int, weight: int = 1) -> int:
    """Virtual microseconds that `segments` take in the lane for an account of that weight; at least 1."""
    return max(1, segments * MICROSECONDS_PER_SEGMENT // (LANE_WEIGHTS[lane] * weight))


def turn(begin: int, segments: int, lane: int, weight: int = 1) -> int:
    """The turn of a batch of `segments` that begins there."""
    return begin + cost(min(segments, FIRST), lane, weight)


FIRST_COSTS = [cost(FIRST, lane) for lane in range(len(LANE_WEIGHTS))]
