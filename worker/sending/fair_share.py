"""Fair shares of a carrier that everybody waits for, where one account's messages are all in one batch.

A batch is in one turn at a time, and all turns under way share the carrier's rate. So such an account would have the
rate of one turn, and one with many batches that of all the others. Fair order alone cannot mend that: it says who is
next, and the only batch of the first account is under way. So while it is, and has more to be sent, nobody of its
category takes another turn who has as much under way already, by the accounts' weights.

The carrier is not idle for that: its rate is what turns wait for, and fewer of them have more of it each. Where they do
not wait (`Pace.contended`), as many turns are taken as there can be.
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
    """What turns of an account and lane are sending now."""

    account_id: int
    lane: int
    segments: float
    """Divided by the account's weight."""
    more: bool
    """Whether a batch of it has more than its turn sends."""


def ahead_of_others(connection: Connection, queued: Iterable[AccountLane], carrier: str | None) -> set[AccountLane]:
    """The accounts and lanes that may take no other turn now: somebody has less under way and cannot have more.

    `queued` are those that have batches to be claimed.
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
