"""Sorts waiting batches into the queues of their carriers, if there are several. Keeps their order.

A batch whose messages go to several carriers goes to one after another: the indexes of the next carrier's portion come
first in `retry_indexes`, and after that carrier's cycle the batch is sorted again. A batch whose carriers are all
unavailable waits, outside the carriers' queues, and is sorted again when one becomes available.

Messages with rate limits are a separate portion, for the queue of these limits. The portion that takes least time goes
first.

If a crash undoes a sort, it is repeated: nothing has been submitted yet.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, Text, bindparam, func, not_, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY

from shared.accounts.sandbox import SIMULATED
from shared.db.connection import transaction
from shared.db.expressions import in_constants
from shared.db.tables.sends import batch
from shared.lifecycle import BatchState
from shared.sends import batch_states, fair_queueing
from shared.sends.batch_prices import SEGMENTS
from shared.sends.holding import SendsUnusable, hold_unusable
from shared.sends.requeue import requeue_batches
from shared.sends.rest_of_batch import split_postponed
from shared.sends.sendable import SENDABLE
from worker.pacing.carrier_status import CarrierStatus
from worker.routing.routes import Choice, Routes

BATCHES_PER_SORT = 64
"""Batches sorted in one transaction."""
BATCHES_PER_FOLLOW = 500
"""Most batches whose carrier has become available that are requeued in one transaction; likewise unavailable."""
WAIT = 30.0
"""Seconds until a batch that waits for a carrier is sorted again; sooner if one becomes available."""

UNSORTED = text(
    f"""
    SELECT b.id, b.send_id, b.recipients, b.retry_indexes, b.postponed, b.next_index, b.size, b.attempts,
           {SEGMENTS} AS segments, s.sender_id, s.lane, {SIMULATED} AS test, s.carrier AS only
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE b.state = 'queued' AND b.carrier IS NULL AND {SENDABLE}
     ORDER BY b.turn, b.id LIMIT :limit FOR UPDATE OF b SKIP LOCKED
    """
)
"""Locks the next batches without a carrier in fair order, so that no other worker sorts or claims them meanwhile."""

IN_QUEUE_OF_UNAVAILABLE = (
    select(batch.c.id)
    .where(
        in_constants(batch.c.state, BatchState.QUEUED),
        batch.c.carrier.is_not(None),
        not_(func.string_to_array(batch.c.carrier, "/", type_=ARRAY(Text)).contained_by(bindparam("known"))),
    )
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
UNSORT_UNAVAILABLE = (
    update(batch).where(batch.c.id.in_(IN_QUEUE_OF_UNAVAILABLE)).values(carrier=None, portion=None, route=None)
)
"""Unsorts batches in the queue of a carrier that has become unavailable, or of a limit that was removed."""


@dataclass(frozen=True, slots=True)
class SortResult:
    """A batch's carrier, and the indexes of the portion that goes there unless all do."""

    choice: Choice
    route: str
    """Its route and the reason; all of them if the messages of the portion take the same carrier by several routes."""
    retry_indexes: str | None = None
    portion: int | None = None

    @property
    def queue(self) -> str:
        """The queue, or the carrier that the batch waits for."""
        return self.choice.carrier if self.choice.why == "waits" else self.choice.queue


class Sorter:
    """Sorts for one worker process. Thread-safe; one thread sorts at a time."""

    def __init__(self, engine: Engine, routes: Routes, carrier_status: CarrierStatus, simulator: str) -> None:
        self._engine = engine
        self._routes = routes
        self._carrier_status = carrier_status
        self._simulator = simulator
        self._lock = threading.Lock()

    def sort(self) -> set[str]:
        """Sort the next batches in fair order. Returns the queues that got any.

        A send whose sorting fails because of an internal error is held.
        """
        with self._lock:
            while True:
                try:
                    return self._sort()
                except SendsUnusable as unusable:
                    hold_unusable(self._engine, unusable)

    def _sort(self) -> set[str]:
        with transaction(self._engine, durable=False) as connection:
            rows = connection.execute(UNSORTED, {"limit": BATCHES_PER_SORT}).all()
            if not rows:
                return set()
            sorted_batches = self._sort_batches(rows)
            connection.execute(
                batch_states.ROUTE,
                {
                    "id": [row.id for row in rows],
                    "carrier": [sorted_batch.queue for sorted_batch in sorted_batches],
                    "route": [
                        None if row.test else sorted_batch.route
                        for row, sorted_batch in zip(rows, sorted_batches, strict=True)
                    ],
                    "portion": [sorted_batch.portion for sorted_batch in sorted_batches],
                    "retry_indexes": [sorted_batch.retry_indexes for sorted_batch in sorted_batches],
                    "waits": [sorted_batch.choice.why == "waits" for sorted_batch in sorted_batches],
                    "seconds": WAIT,
                },
            )
        return {sorted_batch.queue for sorted_batch in sorted_batches}

    def follow(self) -> None:
        """Requeue batches of carriers that became available or unavailable. One worker does this every second."""
        carriers = sorted(self._carrier_status.usable | {self._simulator})
        with transaction(self._engine, durable=False) as connection:
            queues = carriers + [rate_limit.name for rate_limit in self._routes.limits]
            connection.execute(UNSORT_UNAVAILABLE, {"known": queues, "limit": BATCHES_PER_FOLLOW})
            clock = fair_queueing.clock(connection)
            wake = {"available": carriers, "limit": BATCHES_PER_FOLLOW}
            woken = connection.execute(batch_states.WAKE_AVAILABLE, wake).scalars().all()
            if woken:
                requeue_batches(connection, woken, clock)

    def _sort_batches(self, rows: Sequence[Row[Any]]) -> list[SortResult]:
        """Where each batch goes. Raises SendsUnusable for all sends whose sorting fails."""
        sorted_batches, unusable = [], dict[UUID, Exception]()
        for row in rows:
            try:
                sorted_batches.append(self._sort_batch(row))
            except Exception as error:
                unusable[row.send_id] = error
        if unusable:
            raise SendsUnusable(unusable)
        return sorted_batches

    def _sort_batch(self, row: Row[Any]) -> SortResult:
        if row.test:
            return _only(Choice(self._simulator, "test key", "only"))
        usable = self._carrier_status.usable
        if row.only is not None:
            return _only(Choice(row.only, "test", "only" if row.only in usable else "waits"))
        sorted_batch = self._portion(row, usable)
        self._carrier_status.probing.discard(sorted_batch.choice.carrier)
        return sorted_batch

    def _portion(self, row: Row[Any], usable: frozenset[str]) -> SortResult:
        """The choice for all of the batch's next messages, or else for the portion that goes first."""
        choose = self._routes.chooser(row.sender_id, row.lane, row.attempts, usable)
        retry_indexes, postponed = split_postponed(row.retry_indexes or [], row.postponed)
        choices = {index: choose(phone) for index, phone in _next_messages(row, retry_indexes or postponed)}
        counts = Counter(choices.values())
        chosen = min(counts, key=lambda choice: self._order_of(choice, counts[choice] * row.segments))
        route = "; ".join(choice.explanation for choice in counts if choice.queue == chosen.queue)
        if len({choice.queue for choice in counts}) == 1:
            return SortResult(chosen, route)
        first = [index for index, choice in choices.items() if choice.queue == chosen.queue]
        rest = [index for index, choice in choices.items() if choice.queue != chosen.queue]
        if retry_indexes:  # what comes after them was not chosen for yet, and `portion` stands for all that is left
            rest += [*range(row.next_index, row.size + 1), *postponed]
        return SortResult(chosen, route, ",".join(map(str, first + rest)), len(first))

    def _order_of(self, choice: Choice, segments: int) -> tuple[bool, float]:
        """The sort key of portions. On a tie, the first message's portion goes first."""
        return choice.why == "waits", self._routes.seconds(choice, segments)


def _only(choice: Choice) -> SortResult:
    return SortResult(choice, choice.explanation)


def _next_messages(row: Row[Any], retry_indexes: list[int]) -> Iterator[tuple[int, str]]:
    """Index and phone of the messages of the batch's next cycles."""
    recipients = row.recipients.split("\n")
    if retry_indexes:
        return ((index, recipients[index - 1]) for index in retry_indexes)
    return enumerate(recipients[row.next_index - 1 :], row.next_index)
