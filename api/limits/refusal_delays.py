"""Delays refusals: an owner whose requests are refused again and again gets its next refusals later.

A client that repeats a refused request at once would otherwise keep a process busy with nothing else. Other responses
are never delayed, and a delayed refusal takes nothing of its owner's share of the service.

Call everything here on the event loop only.
"""

from api.limits.bulkheads import Owner, is_signed_in
from api.limits.rate_limits import Buckets

OF_ACCOUNT = 10.0
"""Refusals per second that an account or operator gets without a delay, in each process."""
OF_ADDRESS = 1.0
BURST_SECONDS = 10.0
"""Refusals worth this many seconds may come at once."""
MAX_DELAY_OF_ACCOUNT = 2.0
MAX_DELAY_OF_ADDRESS = 5.0
"""Seconds."""
BYTES_PER_REFUSAL = 64 * 1024
"""A refused body counts as a refusal for each of this many bytes: all of it was parsed."""


class Refusals:
    """Counts the refusals of accounts, operators and addresses in one process."""

    def __init__(self) -> None:
        self._signed_in = Buckets(OF_ACCOUNT, BURST_SECONDS)
        self._addresses = Buckets(OF_ADDRESS, BURST_SECONDS)

    def delay(self, owner: Owner, status: int, body_bytes: int = 0) -> float:
        """Count a response, and return the seconds by which to delay it: zero unless it is a refusal (4xx)."""
        if not 400 <= status < 500:
            return 0.0
        buckets = self._signed_in if is_signed_in(owner) else self._addresses
        left = buckets.charge(owner, 1 + body_bytes / BYTES_PER_REFUSAL)
        longest = MAX_DELAY_OF_ACCOUNT if is_signed_in(owner) else MAX_DELAY_OF_ADDRESS
        return min(longest, max(0.0, -left / buckets.rate))
