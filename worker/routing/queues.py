"""The queues of messages that limits count for, each with turns of its own: such as `main/sender ACME`.

They are made when they are needed. One turn at a time of each is taken by a worker, by a slower carrier's rules.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from sqlalchemy import Engine, text

from shared.db.connection import reading
from shared.settings import Settings
from worker.carriers.base import Carrier
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.pacing.pace import CarrierPace, Pacer
from worker.pacing.rate_limits import Limit, RateLimitedCarrier, SharedPace
from worker.sending.authentication_share import DEFAULT_SHARE
from worker.sending.dispatch import Dispatcher

REFRESH_SECONDS = 1.0
"""Seconds between looks for what other workers have sorted, or were ended before they took."""

WAITING = text("SELECT DISTINCT carrier FROM batch WHERE state = 'queued' AND carrier LIKE '%/%'")


class LimitedQueues:
    """The turns of one worker process for messages that limits count for. Safe to use from several threads."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        pacer: Pacer,
        breakers: Mapping[str, CircuitBreaker],
        limits: tuple[Limit, ...],
        simulator: Carrier,
        first: Dispatcher,
        shares: Mapping[str, float],
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._breakers = breakers
        self._paces = {limit.name: CarrierPace(pacer, limit) for limit in limits}
        self._simulator = simulator
        self._first = first
        self._shares = shares
        self._made: dict[str, Dispatcher] = {}
        self._refreshed_at = float("-inf")
        self._lock = threading.Lock()

    def waiting(self) -> set[str]:
        """Queues in which messages stand, looked for once a second."""
        if not self._paces or time.monotonic() - self._refreshed_at < REFRESH_SECONDS:
            return set()
        self._refreshed_at = time.monotonic()
        with reading(self._engine) as connection:
            return {queue for queue in connection.execute(WAITING).scalars() if self._known(queue)}

    def dispatcher(self, queue: str) -> Dispatcher:
        """The turns of that queue."""
        with self._lock:
            if queue not in self._made:
                self._made[queue] = self._make(queue)
            return self._made[queue]

    def _known(self, queue: str) -> bool:
        carrier, *limits = queue.split("/")
        return carrier in self._breakers and self._paces.keys() >= set(limits)

    def _make(self, queue: str) -> Dispatcher:
        name, *limits = queue.split("/")
        breaker = self._breakers[name]
        pace = SharedPace([self._paces[limit] for limit in limits], breaker.carrier)
        carrier = cast(Carrier, RateLimitedCarrier(breaker.carrier, pace, self._settings.concurrency))
        settings, share = replace(self._settings, concurrency=1), self._shares.get(name, DEFAULT_SHARE)
        made = Dispatcher(self._engine, carrier, self._simulator, settings, breaker, queue, share)
        made.stop, made.workers, made.witness = self._first.stop, self._first.workers, self._first.witness
        return made
