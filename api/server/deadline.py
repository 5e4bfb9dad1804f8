"""A timer that can be started and stopped repeatedly."""

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls a function after some seconds, unless it is stopped first."""

    __slots__ = ("_act", "_handle", "_loop", "_seconds")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, act: Callable[[], object]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._act: Callable[[], object] | None = act
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the timer, unless it is running."""
        if self._handle is None and self._act is not None:
            self._handle = self._loop.call_later(self._seconds, self._act)

    def stop(self) -> None:
        """Stop the timer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def close(self) -> None:
        """Stop for good, and drop the reference to the function."""
        self.stop()
        self._act = None
