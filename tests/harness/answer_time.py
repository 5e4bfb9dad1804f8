"""The time for a carrier's response, which is over when a test says so, and not when a machine has stood still."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.harness.house import wait_until

LONG = 1_000_000.0


class OverWhen:
    """Stands for the module `time` of a driver. Nobody else than the thread that makes it notices.

    In that thread, the time is real for the first `looks`. From then on, a look waits until something has `happened`,
    and then finds that every deadline has passed.
    """

    def __init__(self, happened: Callable[[], Any], looks: int = 0) -> None:
        self._happened = happened
        self._looks = looks
        self._thread = threading.get_ident()

    def monotonic(self) -> float:
        """Seconds."""
        if threading.get_ident() != self._thread:
            return time.monotonic()
        self._looks -= 1
        if self._looks >= 0:
            return time.monotonic()
        wait_until(self._happened, 60, "what ends the answer time")
        return time.monotonic() + LONG

    sleep = staticmethod(time.sleep)


@contextmanager
def answer_time_over_when(module: str, happened: Callable[[], Any], looks: int = 0) -> Iterator[None]:
    """In a block, the answer time of what this thread submits is over as soon as something has happened.

    `module` is the one that waits for responses; `looks` is how often it looks at the clock before that.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{module}.time", OverWhen(happened, looks))
        yield


class Clock:
    """Stands for the module `time` of a driver. It goes only when a test moves it."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        """Seconds."""
        return self.now
