"""Which batches may be claimed next: those first in fair order, with two corrections.

Authentication is guaranteed a share of the carrier, however many accounts send something else. In fair order, an
account's authentication gets 64 times what another account's marketing gets, so its part of the whole shrinks with each
account that waits. Each cycle therefore claims what is owed to authentication first, and the rest in fair order.
Nothing changes if fair order gives it as much anyway, or if less of it waits; the carrier never idles.

And while cycles wait for the carrier, an account whose messages are all in one batch gets its fair share too. A batch
is in one cycle at a time, and all running cycles share the carrier's rate. So an account with one batch would get the
rate of one cycle, and an account with many batches that of all the others. Fair order alone cannot prevent that: it
says which batch is next, and the only batch of the first account is already being sent. So while that batch has more to
send, accounts of the same category that have at least as much in progress, by weight, claim nothing more. The carrier
does not idle: its rate is what the cycles wait for, and fewer cycles get more of it each.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, TextClause, text

from shared.db.connection import tuples_of
from shared.lifecycle import LANES, Category
from shared.sends.batch_prices import SEGMENTS
from shared.sends.sendable import MESSAGES_LEFT, SENDABLE
from worker.sending.claimed_batch import ClaimedBatch, segments_of

AUTHENTICATION = LANES.index(Category.AUTHENTICATION)
MIN_CANDIDATES, MAX_CANDIDATES = 16, 512
"""Batches that one claim locks to choose from."""
DEFAULT_SHARE = 0.2
"""The default of each carrier's `authentication_share` in CARRIERS_FILE."""

AccountLane = tuple[int, int]
"""An account and a lane."""


class Claimable(NamedTuple):
    """A batch that may be claimed."""

    batch_id: UUID
    send_id: UUID
    unclaimed: int
    """Messages never claimed."""
    retrying: int
    """Messages to send before those."""
    rate: int | None
    segments: int
    state: str
    kind: str
    min_messages: str | None
    canary: str | None
    lane: int
    crashes: int
    account_id: int


RETRYING = "CASE WHEN b.retry_indexes IS NOT NULL THEN GREATEST(1, cardinality(b.retry_indexes) - b.postponed) END"
"""SQL: how many of `retry_indexes` batch `b` sends before those postponed in this round; null: it has none."""
NEXT = f"""
    SELECT b.id AS batch_id, b.send_id, b.size - b.next_index + 1 AS unclaimed,
           coalesce(b.portion, {RETRYING}, 0) AS retrying, s.rate,
           {SEGMENTS} AS segments, s.state, s.kind, s.rules -> 'stop_if' ->> 'min_messages' AS min_messages,
           s.rules ->> 'canary' AS canary, s.lane, b.crashes,
           b.account_id
      FROM batch b JOIN send s ON s.id = b.send_id
"""
IN_ORDER = "ORDER BY b.turn, b.id LIMIT :candidates FOR UPDATE OF b SKIP LOCKED"

CANDIDATE = text(f"{NEXT} WHERE b.state = 'queued' AND {SENDABLE} {IN_ORDER}")
"""The first batches in fair order. SKIP LOCKED gives each worker other ones, without waiting; the partial index of
queued batches is read in its order, so the cost does not depend on how many wait."""
CANDIDATE_TEST = text(f"{NEXT} WHERE b.state = 'queued' AND s.test AND {SENDABLE} {IN_ORDER}")
"""The same, of test keys only, which go to the simulator."""
CANDIDATE_OF_CARRIER = text(f"{NEXT} WHERE b.state = 'queued' AND b.carrier = :carrier AND {SENDABLE} {IN_ORDER}")
"""The same, from the queue of one of several carriers."""

OF_AUTHENTICATION = f"""{NEXT} WHERE b.state = 'queued' AND b.lane = {AUTHENTICATION} AND {SENDABLE} AND b.carrier"""
AS_INDEXED = "ORDER BY b.carrier, b.turn, b.id LIMIT :candidates FOR UPDATE OF b SKIP LOCKED"
CANDIDATE_AUTHENTICATION = text(f"{OF_AUTHENTICATION} IS NULL {AS_INDEXED}")
"""Authentication only, in the order of its own index: it is found at once, however much else is ahead of it."""
CANDIDATE_AUTHENTICATION_OF_CARRIER = text(f"{OF_AUTHENTICATION} = :carrier {AS_INDEXED}")
"""The same, from the queue of one of several carriers."""

CYCLES_IN_PROGRESS = text(
    f"""
    SELECT b.account_id, s.lane, CAST(sum(b.intent * {SEGMENTS}) AS float8) / a.weight AS segments,
           bool_or({MESSAGES_LEFT} > b.intent) AS more
      FROM batch b JOIN send s ON s.id = b.send_id JOIN account a ON a.id = b.account_id
     WHERE b.state = 'sending' AND b.lease_until > clock_timestamp() AND b.carrier IS NOT DISTINCT FROM :carrier
     GROUP BY b.account_id, s.lane, a.weight
    """
)
"""What each account is sending, by the leases: all workers' cycles, also those of other processes. Read before each
claim that waits for the carrier, so as one aggregate over the few batches in a cycle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """What a cycle wants to claim."""

    budget: int
    """Segments to claim at most."""
    window_size: int
    """This many messages are below the watermark at once."""
    lease: float
    """Seconds."""
    expected_batch_size: float = 100.0
    """Expected number of messages per batch. Other workers cannot see the candidates until the commit, so no more are
    locked than are likely to be needed."""
    queue: str | None = None
    """With several carriers, the queue to claim from."""
    only_tests: bool = False
    """Claim only messages of test keys."""
    owed: int = 0
    """Segments of the budget that are reserved for authentication."""
    contended: bool = False
    """Cycles wait for the carrier, so no account may exceed its share."""


def lock_next(connection: Connection, request: ClaimRequest) -> tuple[Sequence[Claimable], Sequence[Claimable]]:
    """Lock the batches to choose from: those of authentication that fair order would reach too late, up to what is
    owed, and those in fair order."""
    queue, owed = request.queue, request.owed
    limit = min(MAX_CANDIDATES, max(MIN_CANDIDATES, int(2 * request.budget / request.expected_batch_size)))
    statement = CANDIDATE_TEST if request.only_tests else CANDIDATE
    candidates = _lock_candidates(connection, statement if queue is None else CANDIDATE_OF_CARRIER, limit, queue)
    first: Sequence[Claimable] = ()
    if owed and candidates and _leaves_out(candidates, request.budget, owed, limit):
        statement = CANDIDATE_AUTHENTICATION if queue is None else CANDIDATE_AUTHENTICATION_OF_CARRIER
        first = _lock_candidates(connection, statement, min(MAX_CANDIDATES, MIN_CANDIDATES + owed), queue)
    if request.contended and candidates:
        over_share = _over_share(connection, {(row.account_id, row.lane) for row in candidates}, queue)
        candidates = [row for row in candidates if (row.account_id, row.lane) not in over_share]
    return first, candidates


def _leaves_out(candidates: Sequence[Claimable], budget: int, owed: int, most: int) -> bool:
    """Whether the budget is too small for all, and fair order gives authentication less than it is owed."""
    for row in candidates:
        segments = min(row.retrying or row.unclaimed, budget // row.segments) * row.segments
        budget -= segments
        owed -= segments if row.lane == AUTHENTICATION else 0
        if budget <= 0 or not segments:
            return owed > 0
    return owed > 0 and len(candidates) == most


def _lock_candidates(connection: Connection, statement: TextClause, limit: int, queue: str | None) -> list[Claimable]:
    """Lock up to `limit` candidates. Skips those that another worker has locked."""
    return list(map(Claimable._make, tuples_of(connection, statement, {"candidates": limit, "carrier": queue})))


class AuthenticationShare:
    """What one worker process owes to authentication, of one carrier. Thread-safe.

    `share` is from 0 (no guarantee) to 1 (nothing else while any authentication waits). A shortfall is added to the
    next cycle (a deficit counter: Shreedhar, Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM
    1995), so the share holds even if each cycle claims one message.
    """

    def __init__(self, share: float = DEFAULT_SHARE) -> None:
        self.share = share
        self._owed = 0.0
        self._lock = threading.Lock()

    def take_owed(self, budget: int) -> int:
        """Segments of authentication that a cycle of `budget` segments claims before anything else."""
        with self._lock:
            part = self.share * budget
            self._owed = min(self._owed, max(1.0, part)) + part
            owed = max(0, min(budget, int(self._owed)))
            self._owed -= owed
            return owed

    def report(self, owed: int, batches: list[ClaimedBatch]) -> None:
        """Note what the cycle claimed. A shortfall is owed by the next cycle, but by no later one."""
        taken = segments_of([batch for batch in batches if batch.lane == AUTHENTICATION])
        with self._lock:
            self._owed += max(0, owed - taken)


class InProgress(NamedTuple):
    """What the cycles of an account and lane are sending now."""

    account_id: int
    lane: int
    segments: float
    """Divided by the account's weight."""
    more: bool
    """Whether one of its batches has more to send than its cycle has claimed."""


def _over_share(connection: Connection, queued: Iterable[AccountLane], queue: str | None) -> set[AccountLane]:
    """The accounts and lanes that may claim nothing now: another one has less in progress and cannot claim more.

    `queued` are those with batches to claim.
    """
    rows = list(map(InProgress._make, tuples_of(connection, CYCLES_IN_PROGRESS, {"carrier": queue})))
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


def _has_one_batch(row: InProgress, queued: set[AccountLane]) -> bool:
    return row.more and (row.account_id, row.lane) not in queued
