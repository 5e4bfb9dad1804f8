"""Fair shares of a contended carrier, for accounts whose messages are all in one batch.

A batch is in one cycle at a time, and all running cycles share the carrier's rate. So an account with one batch would
get the rate of one cycle, and an account with many batches that of all the others. Fair order alone cannot prevent
that: it says which batch is next, and the only batch of the first account is already being sent. So while that batch
has more to send, accounts of the same category that have at least as much in progress, by weight, claim nothing more.

The carrier does not idle: its rate is what the cycles wait for, and fewer cycles get more of it each. While they do not
wait (see `Pace.contended`), there is no such limit.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, text

from shared.db.connection import tuples_of
from shared.sends.placeholder_batches import SEGMENTS

UNDER_WAY = text(
    f"""
    SELECT b.account_id, s.lane, CAST(sum(b.intent * {SEGMENTS}) AS float8) / a.weight AS segments,
           bool_or(b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0) > b.intent) AS more
      FROM batch b JOIN send s ON s.id = b.send_id JOIN account a ON a.id = b.account_id
     WHERE b.state = 'sending' AND b.lease_until > clock_timestamp() AND b.carrier IS NOT DISTINCT FROM :carrier
     GROUP BY b.account_id, s.lane, a.weight
    """
)

AccountLane = tuple[int, int]
"""An account and a lane."""


class UnderWay(NamedTuple):
    """What the cycles of an account and lane are sending now."""

    account_id: int
    lane: int
    segments: float
    """Divided by the account's weight."""
    more: bool
    """Whether one of its batches has more to send than its cycle has claimed."""


def over_share(connection: Connection, queued: Iterable[AccountLane], carrier: str | None) -> set[AccountLane]:
    """The accounts and lanes that may claim nothing now: another one has less in progress and cannot claim more.

    `queued` are those with batches to claim.
    """
    rows = list(map(UnderWay._make, tuples_of(connection, UNDER_WAY, {"carrier": carrier})))
    waiting = set(queued)
    least = {
        lane: min(row.segments for row in rows if row.lane == lane and _has_one_batch(row, waiting))
        for lane in {row.lane for row in rows if _has_one_batch(row, waiting)}
    }
    return {
        (row.account_id, row.lane)
        for row in rows
        if row.lane in least and row.segments >= least[row.lane] and not _has_one_batch(row, waiting)
    }


def _has_one_batch(row: UnderWay, queued: set[AccountLane]) -> bool:
    return row.more and (row.account_id, row.lane) not in queued
