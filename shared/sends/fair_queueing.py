"""Fair order among accounts: start-time fair queueing in one sortable number.

Every batch gets a *turn*, in virtual microseconds, and workers always claim the smallest. A batch begins at the later
of the queue's clock (the smallest turn of what competes now) and the end of the account's previous batch in that lane.
It ends after its cost, divided by the weights of its lane and account. Its turn is its start plus the cost of its first
segments, and advances with each part that is sent. So an account that queued ten million messages has turns far in the
future, and the first batch of another account comes right after what is being sent now, however large the batches are.
A lane of greater weight comes proportionally sooner, and no lane can starve another.

A batch that is planned for later has no turn (0) until it is due. If a send is paused, postponed, canceled or expires,
its unsent batches give their turns back, provided they are the account's last (shared/sends/requeue.py).

Virtual time does not follow the time of day. It passes as messages are sent, slowly at a slow carrier. While the queue
is empty, it stands at the end of all that was accepted. With the time of day as the clock of an empty queue, of two
accounts that begin to send at nearly the same time, one could be placed behind all messages of the other.

Batches that could not be sent for a while were overtaken by the clock. They continue at the clock and not at their old
turns, with which they would precede everything else until they end (shared/sends/requeue.py).

Source: Goyal, Vin, Cheng, "Start-time Fair Queuing", SIGCOMM 1996.
"""

import time

from sqlalchemy import Connection, text

from shared.lifecycle import LANE_WEIGHTS
from shared.sends.sendable import COMPETES

MICROSECONDS_PER_SEGMENT = 10
"""Nominal cost in the last lane: large enough to be divided by the weights."""
FIRST_SEGMENTS = 100
"""A batch's turn is its start plus the cost of this many of its segments: a smaller batch comes sooner, one of a more
urgent lane much sooner."""

_COMPETES = f"b.turn > 0 AND (SELECT {COMPETES} FROM send s WHERE s.id = b.send_id)"
MIN_TURN = f"""
    LEAST((SELECT min(b.turn) FROM batch b WHERE b.state = 'queued' AND {_COMPETES} {{which}}),
          (SELECT min(b.turn) FROM batch b WHERE b.state = 'sending' AND {_COMPETES} {{which}}))
"""
"""SQL: the smallest turn of what competes. The sends are looked up for each row, so that the indexes by turn are read
in their order, as far as the first row that competes."""
CLOCK = MIN_TURN.format(which="")
"""SQL: the smallest turn of what competes now, or null. What has a slow rate of its own, is stopped or belongs to a
frozen account would keep the clock back, and so count against an account what it sent meanwhile. Batches in a cycle
count: they return with a turn only a little later, and a newcomer would otherwise wait until they are done."""
CLOCK_FROM = f"coalesce({MIN_TURN.format(which='AND b.turn >= %(clock)s')}, {CLOCK})"
"""SQL: the same, given a recent value of the clock. The index begins with all turns that ended since the last vacuum,
and skipping these takes as long as accepting several sends."""
IDLE_CLOCK = "coalesce((SELECT turn FROM queue_clock), 0)"
"""SQL: the clock of an empty queue, a second old at most. It never goes back."""
NOW = text(f"SELECT coalesce({CLOCK}, {IDLE_CLOCK})")
"""The queue's clock. As SQL, because the statements that accept sends contain it."""
LAST_ENDS = ", ".join(f"max(ends) FILTER (WHERE lane = {lane}) AS lane_{lane}" for lane in range(len(LANE_WEIGHTS)))
RAISED_TURNS = f"ARRAY[{', '.join(f'GREATEST(a.turns[{n + 1}], t.lane_{n})' for n in range(len(LANE_WEIGHTS)))}]"
"""SQL: the turns of an account `a`, raised to the end of what was placed, which LAST_ENDS selects as `t`."""
RAISE_IDLE_CLOCK = text(
    f"""
    INSERT INTO queue_clock (turn)
    SELECT o.turn
      FROM (SELECT coalesce({CLOCK}, (SELECT max(GREATEST(turns[1], turns[2], turns[3])) FROM account)) AS turn) o
     WHERE o.turn > {IDLE_CLOCK}
        ON CONFLICT (singleton) DO UPDATE SET turn = EXCLUDED.turn
    """
)
"""Raises the clock of an empty queue to the present one, or to the end of all that was accepted if nothing competes
now. So what an account has sent or canceled by then does not count against it."""


def clock(connection: Connection) -> int:
    """The queue's clock: the smallest turn of what competes, or that of an empty queue if nothing does."""
    return int(connection.execute(NOW).scalar_one())


class CachedClock:
    """A recent value of the queue's clock in one process, from which to look for the current one.

    Turns only end or advance. The exception are those of frozen accounts and slow sends that continue, which may be
    before the clock; so the whole queue is searched again every CACHE_SECONDS.
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


def virtual_time(segments: int, lane: int, weight: int = 1) -> int:
    """Microseconds of virtual time that `segments` take in a lane, for an account of that weight; at least 1."""
    return max(1, segments * MICROSECONDS_PER_SEGMENT // (LANE_WEIGHTS[lane] * weight))


def turn(begin: int, segments: int, lane: int, weight: int = 1) -> int:
    """The turn of a batch of `segments` that begins at `begin`."""
    return begin + virtual_time(min(segments, FIRST_SEGMENTS), lane, weight)


FIRST_COSTS = [virtual_time(FIRST_SEGMENTS, lane) for lane in range(len(LANE_WEIGHTS))]
