"""Wakes Celery's event loop when a task of the pool has ended.

The loop asks the broker for another task when it goes round, if it may hold one more. A task gives its place back
when it begins, because it is acknowledged then; where tasks are run by threads, neither its begin nor its end makes the
loop go round: it would sleep for a second or two while others wait.
"""

import contextlib
import os
from typing import Any

from celery.bootsteps import StartStopStep


class Alarm:
    """What threads ring and an event loop hears."""

    def __init__(self) -> None:
        self._heard, self._rung = os.pipe()
        os.set_blocking(self._heard, False)
        os.set_blocking(self._rung, False)
        self._lost = False

    def ring(self) -> None:
        """Wake the loop. Returns at once, from any thread."""
        with contextlib.suppress(BlockingIOError):  # it has enough to hear
            os.write(self._rung, b"!")

    def reconnect(self) -> None:
        """Have the consumer drop its connection to the broker and connect again. Returns at once, from any thread."""
        self._lost = True
        self.ring()

    def register_with(self, hub: Any) -> None:
        """Have the loop, a kombu Hub, listen. It forgets that when it loses its broker."""
        hub.add_reader(self._heard, self._hear)

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._heard, 4096)
        if self._lost:
            self._lost = False
            raise ConnectionError("the broker sends nothing")


def step_with(alarm: Alarm) -> type[StartStopStep]:
    """A step of the consumer's start, after which its loop hears the alarm."""

    class Waking(StartStopStep):  # type: ignore[misc]
        """Registers anew each time the consumer has connected to its broker."""

        requires = ("celery.worker.consumer.tasks:Tasks",)

        def register_with_event_loop(self, _: object, hub: Any) -> None:
            """As Celery calls it before the loop begins."""
            alarm.register_with(hub)

    return Waking
