"""Reports a carrier's late responses, in a separate thread, until the doubts that they resolve are recorded.

A cycle records a doubt when it ends, seconds after the driver reported it; while the database is unavailable, it takes
longer. A response that comes first, or cannot be stored, is therefore reported again.
"""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from uuid import UUID

from shared.db.connection import is_outage_or_timeout
from worker.carriers.base import CarrierInbox, LateResponse

log = logging.getLogger(__name__)

HOLD_SECONDS = 2.0
"""Seconds before a late response is reported, and before it is reported again."""
GIVE_UP_SECONDS = 300.0
"""Seconds after which a late response whose doubt is not recorded is given up: a cycle that cannot record a doubt
leaves it to recovery, and that has recorded it by then. Not while the database is unavailable."""
STOP_SECONDS = 10.0
"""The longest that `stop` waits for the last report."""
MAX_HELD = 50_000
"""Most late responses that are held; the oldest ones are dropped. Their messages stay in doubt."""

Decide = Callable[[], LateResponse | None]
"""Called once the response is due. None if its message is still undecided."""


class HeldResponse(NamedTuple):
    """A response that is not reported yet. Times are on the monotonic clock."""

    due: float
    until: float
    decide: Decide


class LateResponses:
    """The late responses of one carrier, held from `add` until they are reported. Thread-safe."""

    def __init__(self, carrier: str) -> None:
        self._carrier = carrier
        self._held: deque[HeldResponse] = deque(maxlen=MAX_HELD)
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{carrier}-late", daemon=True)

    def start(self, inbox: CarrierInbox) -> None:
        """Start the thread."""
        self._inbox = inbox
        self._thread.start()

    def add(self, decide: Decide) -> None:
        """Take a late response. Never blocks."""
        now = time.monotonic()
        self._held.append(HeldResponse(now + HOLD_SECONDS, now + GIVE_UP_SECONDS, decide))
        self._changed.set()

    def stop(self) -> None:
        """Report all that are held, then stop. Called once their doubts are recorded."""
        self._stop.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._changed.wait(max(0.0, self._held[0].due - time.monotonic()) if self._held else None)
            self._changed.clear()
            self._report(time.monotonic())
        self._report(math.inf)

    def _decide(self, held: HeldResponse) -> LateResponse | None:
        try:
            return held.decide()
        except Exception:  # this thread serves all later responses
            log.exception("%s: a late response was dropped", self._carrier)
            return None

    def _report(self, now: float) -> None:
        """Report the responses that are due. Holds those again that could not be stored, or came before the doubt."""
        responses: list[LateResponse] = []
        until: dict[UUID, float] = {}
        while self._held and self._held[0].due <= now:
            held = self._held.popleft()
            response = self._decide(held)
            if response is not None:
                responses.append(response)
                until[response.message_id] = held.until
        if not responses:
            return
        try:
            again = self._inbox.resolve_late(responses)
        except Exception as error:
            log.warning("%s: late responses could not be stored: %s", self._carrier, type(error).__name__)
            again = responses
            if is_outage_or_timeout(error):  # their doubts are recorded once the database is back
                until = dict.fromkeys(until, now + GIVE_UP_SECONDS)
        kept = [response for response in again if until[response.message_id] > now]
        for response in kept:
            decide = partial(LateResponse, *response)
            self._held.append(HeldResponse(now + HOLD_SECONDS, until[response.message_id], decide))
        if len(kept) < len(again):
            log.warning("%s: %d late responses were discarded", self._carrier, len(again) - len(kept))
