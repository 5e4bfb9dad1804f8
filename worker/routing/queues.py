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
from worker.pacing.circuit_breaker import Gate
from worker.pacing.pace import CarrierPace, Pacer
from worker.pacing.rate_limits import Limit, Limited, SharedPace
from worker.sending.authentication_share import DEFAULT_SHARE
from worker.sending.dispatch import Turns

LOOK = 1.0
"""Seconds between looks for what other workers have sorted, or were ended before they took."""

WAITING = text("SELECT DISTINCT carrier FROM batch WHERE state = 'queued' AND carrier LIKE '%/%'")


class LimitedQueues:
    """The turns of one worker process for messages that limits count for. Safe to use from several threads."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        pacer: Pacer,
        gates: Mapping[str, Gate],
        limits: tuple[Limit, ...],
        simulator: Carrier,
        first: Turns,
        shares: Mapping[str, float],
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._gates = gates
        self._paces = {limit.name: CarrierPace(pacer, limit) for limit in limits}
        self._simulator = simulator
        self._first = first
        self._shares = shares
        self._made: dict[str, Turns] = {}
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def waiting(self) -> set[str]:
        """Queues in which messages stand, looked for once a second."""
        if not self._paces or time.monotonic() - self._looked < LOOK:
            return set()
        self._looked = time.monotonic()
        with reading(self._engine) as connection:
            return {queue for queue in connection.execute(WAITING).scalars() if self._known(queue)}

    def turns(self, queue: str) -> Turns:
        """The turns of that queue."""
        with self._lock:
            if queue not in self._made:
                self._made[queue] = self._make(queue)
            return self._made[queue]

    def _known(self, queue: str) -> bool:
        carrier, *limits = queue.split("/")
        return carrier in self._gates and self._paces.keys() >= set(limits)

    def _make(self, queue: str) -> Turns:
        name, *limits = queue.split("/")
        gate = self._gates[name]
        pace = SharedPace([self._paces[limit] for limit in limits], gate.carrier)
        carrier = cast(Carrier, Limited(gate.carrier, pace, self._settings.turns))
        settings, share = replace(self._settings, turns=1), self._shares.get(name, DEFAULT_SHARE)
        made = Turns(self._engine, carrier, self._simulator, settings, gate, queue, share)
        made.stop, made.workers, made.witness = self._first.stop, self._first.workers, self._first.witness
        return made
