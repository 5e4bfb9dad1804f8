"""Holds a session's requests that come faster than they may, in their order, until it is their turn.

While a request is held it counts in the session's window, so a client that keeps to its window slows down by itself.
"""

import asyncio
from typing import Final

from api.auth.tokens import Caller
from api.limits.rate_limits import RateLimits

HOLD_SECONDS: Final = 5.0
"""The longest that a request is held. Clients wait at least 10 seconds for an answer."""
POLL_SECONDS: Final = 0.02
"""The shortest pause: all binds of an account wait for each token."""


class SmppRequest:
    """A submit, a query or a cancellation, as the rate limits count it."""

    rate_limit: tuple[int, int] | None = None


class Throttle:
    """Of one session's requests."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._first = asyncio.Lock()

    def take(self, caller: Caller) -> bool:
        """Count a request of the caller. False, and not counted: it must wait."""
        return not self._first.locked() and self._limits.take_if_within(caller)

    async def wait(self, caller: Caller) -> None:
        """Wait until a request of the caller is within its limits, and count it.

        Raises Problem rate_limited if it would have to be held for longer than HOLD_SECONDS.
        """
        try:
            async with asyncio.timeout(HOLD_SECONDS), self._first:
                while delay := self._limits.delay(caller):
                    await asyncio.sleep(max(delay, POLL_SECONDS))
        except TimeoutError:
            pass  # it is counted, and refused, as it is
        self._limits.take(SmppRequest(), caller)
