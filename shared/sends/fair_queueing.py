"""Fair order among accounts: start-time fair queueing in one sortable number.

Every batch gets a *turn*, in virtual microseconds, and workers always claim the smallest. A batch begins at the later
of the queue's clock (the smallest turn of what competes now) and the end of the last batch that its account still has
in the queue in that lane. It ends after its cost, divided by the weights of its lane and account. Its turn is its begin
plus the cost of its first segments, and advances with each part that is sent. So an account that queued ten million
messages has turns far in the future, and the first batch of another account comes right after what is being sent now,
however large the batches are. A lane of greater weight comes proportionally sooner, and no lane can starve another.

What an account has sent, canceled, paused or scheduled for later does not count against it: only what it has in the
queue does. Batches that could not be sent for a while are placed again as if they were accepted when they continue
(shared/sends/requeue.py).

Virtual time has nothing to do with the time of day. It passes as messages are sent, at a slow carrier slowly, and
stands still while nothing is sent. Otherwise, of two sends accepted at nearly the same time, one could be placed behind
all of the other.

Source: Goyal, Vin, Cheng, "Start-time Fair Queuing", SIGCOMM 1996.
"""

import time

from sqlalchemy import Connection, text

from shared.lifecycle import LANE_WEIGHTS
from shared.sends.placeholder_batches import SEGMENTS
from shared.sends.sendable import COMPETES

MICROSECONDS_PER_SEGMENT = 10
"""Nominal cost in the last lane: large enough to be divided by the weights."""
FIRST_SEGMENTS = 100
"""A batch's turn is its begin plus the cost of so many of its segments: a smaller batch comes sooner, one of a more
urgent lane much sooner."""

_MIN_TURN_IN = """
    (SELECT min(b.turn) FROM batch b
      WHERE b.state = '{state}' AND (SELECT {competes} FROM send s WHERE s.id = b.send_id) {which})
"""
MIN_TURN = "LEAST({queued}, {sending})".format(
    **{state: _MIN_TURN_IN.format(state=state, competes=COMPETES, which="{which}") for state in ("queued", "sending")}
)
"""SQL: the smallest turn of what competes. The sends are looked up for each row, so that the indexes by turn are read
in their order, as far as the first row that competes."""
CLOCK = MIN_TURN.format(which="")
"""SQL: the smallest turn of what competes now, or null. What has a slow rate of its own, is stopped or belongs to a
frozen account would keep the clock back, and so count against an account what it sent meanwhile. Batches in a cycle
count: they return with a turn only a little later, and a newcomer would otherwise wait until they are done."""
CLOCK_FROM = f"coalesce({MIN_TURN.format(which='AND b.turn >= %(clock)s')}, {CLOCK})"
"""SQL: the same, given a recent value of it. The index begins with all turns that ended since the last vacuum, and
skipping these takes as long as accepting several sends."""
LAST_CLOCK = "coalesce((SELECT turn FROM queue_clock), 0)"
"""SQL: the clock of an empty queue, which is where the clock was when something competed last. A second old at most."""
NOW = text(f"SELECT coalesce({CLOCK}, {LAST_CLOCK})")
"""The queue's clock. As SQL, because the statements that accept sends contain it."""
END_OF_QUEUED = f"""
    (SELECT b.turn + GREATEST(0, (b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0)) * {SEGMENTS}
                                  - {FIRST_SEGMENTS})::bigint * {MICROSECONDS_PER_SEGMENT}
                     / ((ARRAY{list(LANE_WEIGHTS)})[b.lane + 1] * {{weight}})
       FROM batch b JOIN send s ON s.id = b.send_id
      WHERE b.account_id = {{account}} AND b.lane = {{lane}} AND b.state IN ('queued', 'sending')
        AND b.turn >= {{clock}} {{which}}
      ORDER BY b.turn DESC LIMIT 1)
"""
"""SQL: where the last batch ends that an account has in the queue in a lane, or null if it has none."""
BEGIN = text(
    "SELECT GREATEST(CAST(:clock AS bigint), "
    + END_OF_QUEUED.format(account=":account", lane=":lane", weight=":weight", clock=":clock", which="")
    + ")"
)
"""Where the next batch of an account begins in a lane, given the clock."""
RAISE_LAST_CLOCK = text(
    f"""
    INSERT INTO queue_clock (turn)
    SELECT o.turn
      FROM (SELECT coalesce({CLOCK}, (SELECT min(turn) FROM batch WHERE state = 'sending')) AS turn) o
     WHERE o.turn > {LAST_CLOCK}
        ON CONFLICT (singleton) DO UPDATE SET turn = EXCLUDED.turn
    """
)
"""Notes the clock, for when the queue is empty. It never goes back. If nothing competes, a slow send does."""


def clock(connection: Connection) -> int:
    """The queue's clock: the smallest turn of what competes, or where it was last if nothing does."""
    return int(connection.execute(NOW).scalar_one())


def begin(connection: Connection, account: int, lane: int, weight: int) -> int:
    """Where the next batch of an account begins in a lane."""
    where = {"clock": clock(connection), "account": account, "lane": lane, "weight": weight}
    return int(connection.execute(BEGIN, where).scalar_one())


class CachedClock:
    """A recent value of the queue's clock in one process, from which to look for the current one.

    Turns only end or advance. The exception are those of frozen accounts and slow sends that continue, which may be
    before the clock; so the whole queue is searched again every CACHE_SECONDS.
    """

    CACHE_SECONDS = 0.25

    def __init__(self) -> None:
        self.last = 0
        """The greatest value so far: where the clock of an empty queue is, unless LAST_CLOCK is later."""
        self._cached = 0
        self._until = float("-inf")

    def begin(self) -> int:
        """The turn from which to search; 0 means from the first."""
        return self._cached if time.monotonic() < self._until else 0

    def note(self, begin: int, value: int) -> None:
        """Note the value found by a search from `begin`."""
        self.last = max(self.last, value)
        if begin == 0:
            self._cached, self._until = value, time.monotonic() + self.CACHE_SECONDS


def virtual_time(segments: int, lane: int, weight: int = 1) -> int:
    """Microseconds of virtual time that `segments` take in a lane, for an account of that weight; at least 1."""
    return max(1, segments * MICROSECONDS_PER_SEGMENT // (LANE_WEIGHTS[lane] * weight))


def turn(begin: int, segments: int, lane: int, weight: int = 1) -> int:
    """The turn of a batch of `segments` that begins at `begin`."""
    return begin + virtual_time(min(segments, FIRST_SEGMENTS), lane, weight)


FIRST_COSTS = [virtual_time(FIRST_SEGMENTS, lane) for lane in range(len(LANE_WEIGHTS))]
