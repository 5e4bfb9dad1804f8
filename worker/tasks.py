"""The Celery task, the work that it asks for, and how tasks that arrive together become one run of it.

A batch's task only signals that there is work: workers claim batches in fair order.
"""

import threading
import time
from collections.abc import Callable

from celery import Celery
from sqlalchemy import Engine

from shared.prices.book import Prices
from shared.task_publisher import TaskPublisher
from shared.task_queue import SEND_BATCH
from worker.jobs.expand import expand
from worker.jobs.recipient_limits import RecipientLimits
from worker.routing.carrier_pools import CarrierPools
from worker.sending.dispatch import Dispatcher

EMPTY_SECONDS = 0.02
"""Minimum seconds between the starts of two runs, if the first found nothing."""


def register(app: Celery, work: Callable[[], object]) -> None:
    """Register the task. It calls `work`, which runs cycles until nothing waits."""

    @app.task(name=SEND_BATCH, ignore_result=True, shared=False)
    def send_batch(*ids: str) -> None:
        """Expand and send: these batches were queued, or this group send was accepted."""
        work()


class ExpandAndSend:
    """Expands and sends until nothing waits. Thread-safe."""

    def __init__(self, engine: Engine, dispatcher: Dispatcher | CarrierPools, recipients: RecipientLimits) -> None:
        self._engine = engine
        self._dispatcher = dispatcher
        self.recipients = recipients
        self.prices = Prices(engine)
        self.tasks: TaskPublisher | None = None
        """Publishes tasks of new batches; the sweeper, of those due or recovered."""

    def __call__(self) -> int:
        """Expand and send. Returns 0 if there was nothing to do, else how many cycles were run or running.

        A cycle comes before the first expansion, unless others are running. After each, even a failed one, cycles run
        for as long as it took. So expansions do not delay other messages for long, nor other messages expansions.
        With several carriers, cycles have threads of their own and run meanwhile.
        """
        cycles, cycles_run = 0, int(not self._dispatcher.stop.is_set() and self._dispatcher.run_cycle_if_free())
        while not self._dispatcher.stop.is_set():
            cycles += cycles_run
            began = time.monotonic()
            expanded = expand(self._engine, self.recipients, self.prices)
            if expanded == [] and not cycles_run:
                break
            if expanded and self.tasks is not None:
                self.tasks.publish(expanded)
            cycles_run = self._dispatcher.drain(time.monotonic() - began)
        return cycles


class Coalescer:
    """Runs `work`, which returns how much it did. Thread-safe.

    A call returns at once if another is waiting to begin, as that one will find everything committed before the call.
    So a thousand tasks for finished batches cost only a few queries every EMPTY_SECONDS.
    """

    def __init__(
        self, work: Callable[[], int], stop: threading.Event, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._work = work
        self._stop = stop
        self._clock = clock
        self._lock = threading.Lock()
        self._is_one_waiting = False
        self._next = float("-inf")

    def run(self) -> None:
        """Ensure that `work` begins after this call, in this thread or another."""
        with self._lock:
            if self._is_one_waiting:
                return
            self._is_one_waiting = True
            wait = self._next - self._clock()
        if wait > 0:
            self._stop.wait(wait)
        with self._lock:
            self._is_one_waiting = False
        began = self._clock()
        if not self._work():
            with self._lock:
                self._next = began + EMPTY_SECONDS
