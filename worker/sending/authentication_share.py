"""The share of a carrier that is guaranteed to authentication, however many accounts send something else.

In fair order, an account's authentication gets 64 times what another account's marketing gets, so its part of the whole
shrinks with each account that waits. Each cycle therefore claims what is owed to authentication first, and the rest in
fair order. Nothing changes if fair order gives it as much anyway, or if less of it waits; the carrier never idles. A
shortfall is added to the next cycle (a deficit counter: Shreedhar, Varghese, "Efficient Fair Queuing using Deficit
Round Robin", SIGCOMM 1995), so the share holds even if each cycle claims one message.
"""

import threading

from shared.lifecycle import LANES, Category
from worker.sending.claimed_batch import ClaimedBatch, segments_of

AUTHENTICATION = LANES.index(Category.AUTHENTICATION)
DEFAULT_SHARE = 0.2
"""The default of each carrier's `authentication_share` in CARRIERS_FILE."""


class AuthenticationShare:
    """The deficit counter of one carrier in one worker process. Thread-safe.

    `share` is from 0 (no guarantee) to 1 (nothing else while any authentication waits).
    """

    def __init__(self, share: float = DEFAULT_SHARE) -> None:
        self.share = share
        self._owed = 0.0
        self._lock = threading.Lock()

    def reserve(self, room: int) -> int:
        """Segments of authentication that a cycle of `room` segments claims before anything else."""
        with self._lock:
            part = self.share * room
            self._owed = min(self._owed, max(1.0, part)) + part
            due = max(0, min(room, int(self._owed)))
            self._owed -= due
            return due

    def report(self, due: int, batches: list[ClaimedBatch]) -> None:
        """Note what the cycle claimed. A shortfall is owed by the next cycle, but by no later one."""
        taken = segments_of(batch for batch in batches if batch.lane == AUTHENTICATION)
        with self._lock:
            self._owed += max(0, due - taken)
