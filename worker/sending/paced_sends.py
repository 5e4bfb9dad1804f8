"""Sends with a rate of their own: how much a claim may take of it, and when the next one is due.

A claim takes a fraction of a second of the rate, and more if it comes late, because the previous messages were slow.
The worker goes on when the rate allows, without waiting for its next poll. If it dies, other workers' polls find the
send.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from uuid import UUID

from sqlalchemy import Connection, text

from shared.sends.sendable import RATE_ALLOWS
from worker.sending.claimed_batch import ClaimedBatch

log = logging.getLogger(__name__)

SEND_RATE_SECONDS = 0.05
"""How much of a send's own rate one claim takes, in seconds; at least one message."""
CATCH_UP_SECONDS = 0.25
"""What a claim that comes late takes besides, at most. A claim is late if the previous one's messages were slow."""

TAKE_FROM_RATE = text(
    f"""
    WITH due AS (
        SELECT rate, least({CATCH_UP_SECONDS},
                           greatest(0, extract(epoch FROM clock_timestamp() - paced_until)::float8)) AS late
          FROM send s
         WHERE id = :id AND {RATE_ALLOWS}
           FOR NO KEY UPDATE
    ), granted AS (
        SELECT messages, messages * :segments / rate::float8 - late AS seconds
          FROM due, least(:messages, greatest(1, floor(rate * ({SEND_RATE_SECONDS} + late) / :segments))) AS messages
    )
    UPDATE send SET paced_until = clock_timestamp() + make_interval(secs => seconds)
      FROM granted WHERE id = :id
    RETURNING messages::int, seconds
    """
)
"""Takes messages of a send's own rate, unless it is used up: how many, and the seconds until there are more. One
statement, so that two claims cannot take the same."""


def take_from_rate(connection: Connection, send: UUID, messages: int, segments: int) -> tuple[int, float]:
    """Take up to `messages` of `segments` segments each. Returns how many, and the seconds until there are more.

    0 messages if the rate is used up.
    """
    wanted = {"id": send, "messages": messages, "segments": segments}
    granted = connection.execute(TAKE_FROM_RATE, wanted).one_or_none()
    return (granted.messages, granted.seconds) if granted is not None else (0, 0.0)


class PacedSends:
    """When the next claim of each paced send is due. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[UUID, float] = {}
        self._stopped = False

    def sent(self, batches: Iterable[ClaimedBatch], claimed_at: float) -> None:
        """Note the batches of a cycle that has ended, claimed at a monotonic time."""
        due = {batch.send_id: claimed_at + batch.rate_delay for batch in batches if batch.rate_delay is not None}
        if due:
            with self._changed:
                self._due |= due  # the time of an earlier claim is past, and another one took what was due then
                self._changed.notify()

    def run(self, work: Callable[[], object]) -> None:
        """Call `work` whenever a claim is due, until `stop` is called."""
        while self._wait():
            try:
                work()
            except Exception:
                log.exception("a paced send could not go on and will be retried")

    def stop(self) -> None:
        """End `run` after its present call."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def _wait(self) -> bool:
        """Wait until a claim is due. False once stopped."""
        with self._changed:
            while not self._stopped:
                now = time.monotonic()
                later = {send: due for send, due in self._due.items() if due > now}
                if len(later) < len(self._due):
                    self._due = later
                    return True
                self._changed.wait(min(later.values()) - now if later else None)
        return False
