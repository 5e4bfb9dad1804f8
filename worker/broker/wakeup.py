"""Wakes Celery's event loop when a task in the pool has ended.

The loop fetches another task in its next iteration, if its prefetch limit allows. A task frees its slot when it begins,
because it is acknowledged then. With a thread pool, neither the beginning nor the end of a task triggers an iteration:
the loop would sleep for a second or two while tasks wait.
"""

import contextlib
import os
from typing import Any

from celery.bootsteps import StartStopStep

from worker.broker.consumer_watchdog import ConsumerWatchdog


class LoopWaker:
    """Lets threads wake an event loop, through a pipe."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self._lost = False

    def wake(self) -> None:
        """Wake the loop. Returns at once, from any thread."""
        with contextlib.suppress(BlockingIOError):  # the pipe is full: the loop wakes anyway
            os.write(self._write_end, b"!")

    def reconnect(self) -> None:
        """Make the consumer reconnect to the broker. Returns at once, from any thread."""
        self._lost = True
        self.wake()

    def register_with(self, hub: Any) -> None:
        """Register with the loop, a kombu Hub. Needed again after the loop has lost its broker."""
        hub.add_reader(self._read_end, self._on_wake)

    def _on_wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._read_end, 4096)
        if self._lost:
            self._lost = False
            raise ConnectionError("the consumer has stalled; reconnecting")


def step_with(waker: LoopWaker, watchdog: ConsumerWatchdog) -> type[StartStopStep]:
    """A boot step of the consumer that registers the waker with its loop, and its channel with the watchdog."""

    class RegisterWithLoop(StartStopStep):  # type: ignore[misc]
        """Registers each time the consumer has connected to its broker."""

        requires = ("celery.worker.consumer.tasks:Tasks",)

        def register_with_event_loop(self, consumer: Any, hub: Any) -> None:
            """Called by Celery before the loop begins."""
            waker.register_with(hub)
            watchdog.watch(consumer.task_consumer.channel)

    return RegisterWithLoop
