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

CLOCK = """
    LEAST((SELECT min(turn) FROM batch WHERE state = 'queued'), (SELECT min(turn) FROM batch WHERE state = 'sending'))
"""
"""SQL: the smallest turn that is not over; null when there is none. What is being sent counts, because it comes back
with a turn only a little later, and who comes now would wait until it is done."""
SMALLEST = text(f"SELECT {CLOCK}")


def clock(connection: Connection) -> int:
    """The queue's clock: the smallest turn that is not over, or the time of day in microseconds when all are."""
    waiting = connection.execute(SMALLEST).scalar()
    return int(waiting) if waiting is not None else time.time_ns() // 1000


def cost(segments: int, lane: int, weight: int = 1) -> int:
    """Virtual microseconds that `segments` take in the lane for an account of that weight; at least 1."""
    return max(1, segments * MICROSECONDS_PER_SEGMENT // (LANE_WEIGHTS[lane] * weight))


def turn(begin: int, segments: int, lane: int, weight: int = 1) -> int:
    """The turn of a batch of `segments` that begins there."""
    return begin + cost(min(segments, FIRST), lane, weight)


FIRST_COSTS = [cost(FIRST, lane) for lane in range(len(LANE_WEIGHTS))]
