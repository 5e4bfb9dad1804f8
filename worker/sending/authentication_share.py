"""The part of a carrier that authentication is given for certain, however many accounts wait with something else.

By its weight in fair order an account's authentication gets 64 times what another account's marketing gets, so of the
whole it gets less with each account that waits. A turn therefore takes what is owed to authentication first, and the
rest in fair order. Where fair order gives it as much, or less than that of it waits, nothing is different, and the
carrier never idles. What a turn is short of is owed by the next one (a deficit counter: Shreedhar, Varghese,
"Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995), so the share is kept where a turn is one message.
"""

import threading

from shared.lifecycle import LANES, Category
from worker.sending.claimed_batch import ClaimedBatch, segments_of

AUTHENTICATION = LANES.index(Category.AUTHENTICATION)
DEFAULT_SHARE = 0.2
"""Of each carrier; `authentication_share` in CARRIERS_FILE."""


class AuthenticationShare:
    """Counts for one carrier of one worker process. Safe to use from several threads.

    `share` is from 0 to 1: none, and everything as long as any of it waits.
    """

    def __init__(self, share: float = DEFAULT_SHARE) -> None:
        self.share = share
        self._owed = 0.0
        self._lock = threading.Lock()

    def due(self, room: int) -> int:
        """Segments of authentication that a turn of `room` segments takes before anything else."""
        with self._lock:
            part = self.share * room
            self._owed = min(self._owed, max(1.0, part)) + part
            due = max(0, min(room, int(self._owed)))
            self._owed -= due
            return due

    def took(self, due: int, batches: list[ClaimedBatch]) -> None:
        """What the turn took. What was due and not there is owed by the next turn, and by no later one."""
        taken = segments_of(batch for batch in batches if batch.lane == AUTHENTICATION)
        with self._lock:
            self._owed += max(0, due - taken)
