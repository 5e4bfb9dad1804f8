"""The time for a carrier's response, which is over when a test says so, and not when a machine has stood still."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from tests.harness.house import wait_until
from worker.carriers.base import MessageGroup, Outcome
from worker.carriers.http import HttpCarrier
from worker.carriers.smpp import SmppCarrier

PATIENCE = 60.0
HTTP = ("worker.carriers.http.driver",)
SMPP = ("worker.carriers.smpp.window", "worker.carriers.smpp.session")
"""The modules in which a `submit` looks how much of its response timeout is left."""


def submit_until(
    happened: Callable[[], Any], carrier: HttpCarrier | SmppCarrier, *message_groups: MessageGroup
) -> list[Outcome]:
    """Submit, with a response timeout that is over as soon as something has happened.

    In a thread of its own: a `submit` that goes on after its response timeout fails the test, and does not hold it up.
    """
    over_http = isinstance(carrier, HttpCarrier)
    clock = SubmitClock(carrier._config.response_timeout, looks_before=2 if over_http else 0)
    done: Future[list[Outcome]] = Future()

    def submit() -> None:
        clock.thread = threading.get_ident()
        try:
            done.set_result(carrier.submit(list(message_groups)))
        except BaseException as error:
            done.set_exception(error)

    with pytest.MonkeyPatch.context() as patch:
        for module in HTTP if over_http else SMPP:
            patch.setattr(f"{module}.time", clock)
        threading.Thread(target=submit, daemon=True).start()
        wait_until(lambda: done.done() or happened(), PATIENCE, "what ends the response timeout")
        clock.is_over.set()
        return done.result(PATIENCE)


class SubmitClock:
    """Stands for the module `time` of a driver. Only the thread that submits sees another time than the real one.

    Its first looks, as when it computes its deadline, are `looks_before`: they see the real time too. Every later look
    waits until the response timeout `is_over`, and sees a time that is later by just the response timeout.
    """

    sleep = staticmethod(time.sleep)

    def __init__(self, response_timeout: float, looks_before: int) -> None:
        self.thread: int | None = None
        self.is_over = threading.Event()
        self._response_timeout = response_timeout
        self._looks_before = looks_before

    def monotonic(self) -> float:
        """Seconds."""
        if threading.get_ident() != self.thread:
            return time.monotonic()
        self._looks_before -= 1
        if self._looks_before >= 0:
            return time.monotonic()
        assert self.is_over.wait(2 * PATIENCE), "nothing ended the response timeout"
        return time.monotonic() + self._response_timeout


class Clock:
    """Stands for the module `time` of a driver. It goes only when a test moves it."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        """Seconds."""
        return self.now
