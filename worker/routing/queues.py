"""The queues of messages with rate limits, each with its own dispatcher, such as `main/sender ACME`.

Dispatchers are created when needed. A worker runs one cycle at a time per queue, at the pace of the limits.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from sqlalchemy import Engine, select

from shared.db.connection import reading
from shared.db.expressions import in_constants
from shared.db.tables.sends import batch
from shared.lifecycle import BatchState
from shared.settings import Settings
from worker.carriers.base import Carrier
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.pacing.pace import CarrierPace, Pacer
from worker.pacing.sender_and_prefix_limits import CombinedPace, Limit, RateLimitedCarrier
from worker.routing.routes import split_queue
from worker.sending.cycle_context import CycleContext
from worker.sending.dispatch import Dispatcher
from worker.sending.next_batches import DEFAULT_SHARE

REFRESH_SECONDS = 1.0
"""Seconds between checks for batches that other workers have sorted, or left behind when they stopped."""

OF_LIMITS = batch.c.carrier.like("%/%")
WAITING = select(batch.c.carrier).distinct().where(in_constants(batch.c.state, BatchState.QUEUED), OF_LIMITS)


class LimitedQueues:
    """The dispatchers of one worker process for messages with limits. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        pacer: Pacer,
        breakers: Mapping[str, CircuitBreaker],
        limits: tuple[Limit, ...],
        simulator: Carrier,
        shares: Mapping[str, float],
        context: CycleContext,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._breakers = breakers
        self._paces = {limit.name: CarrierPace(pacer, limit) for limit in limits}
        self._simulator = simulator
        self._shares = shares
        self._context = context
        self._dispatchers: dict[str, Dispatcher] = {}
        self._refreshed_at = float("-inf")
        self._lock = threading.Lock()

    def waiting(self) -> set[str]:
        """Queues with waiting messages. Queries the database once a second; empty in between."""
        if not self._paces or time.monotonic() - self._refreshed_at < REFRESH_SECONDS:
            return set()
        self._refreshed_at = time.monotonic()
        with reading(self._engine) as connection:
            return {queue for queue in connection.execute(WAITING).scalars() if self._is_configured(queue)}

    def dispatcher(self, queue: str) -> Dispatcher:
        """The queue's dispatcher."""
        with self._lock:
            if queue not in self._dispatchers:
                self._dispatchers[queue] = self._make(queue)
            return self._dispatchers[queue]

    def _is_configured(self, queue: str) -> bool:
        carrier, limits = split_queue(queue)
        return carrier in self._breakers and self._paces.keys() >= set(limits)

    def _make(self, queue: str) -> Dispatcher:
        name, limits = split_queue(queue)
        breaker = self._breakers[name]
        pace = CombinedPace([self._paces[limit] for limit in limits], breaker.carrier)
        carrier = cast(Carrier, RateLimitedCarrier(breaker.carrier, pace, self._settings.concurrency))
        settings, share = replace(self._settings, concurrency=1), self._shares.get(name, DEFAULT_SHARE)
        return Dispatcher(self._engine, carrier, self._simulator, settings, breaker, queue, share, self._context)
