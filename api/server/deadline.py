"""A time after which something is done, unless it is stopped before."""

import asyncio
from collections.abc import Callable


class Deadline:
    """A timer of an event loop that is started and stopped again and again."""

    __slots__ = ("_act", "_handle", "_loop", "_seconds")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, act: Callable[[], object]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._act: Callable[[], object] | None = act
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to count, unless it counts already."""
        if self._handle is None and self._act is not None:
            self._handle = self._loop.call_later(self._seconds, self._act)

    def stop(self) -> None:
        """Count no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def close(self) -> None:
        """Stop for good, and forget what was to be done."""
        self.stop()
        self._act = None
