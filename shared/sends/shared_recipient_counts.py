"""Adds up the counts of messages to phones of all processes, in Redis. No phone is in a key of it: a keyed hash is."""

import hashlib
import hmac
import logging
import threading
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from shared.sends.recipient_counts import RecipientCounts, Subject

log = logging.getLogger(__name__)

INTERVAL = 0.25
RETRY_SECONDS = 5.0
"""Seconds for which Redis is left alone after a failure."""
BATCH_SIZE = 500
KEPT = 7300
"""Seconds: the window and the one after it."""


class RecipientSharing:
    """Tells Redis what one process has counted, and the process what all have."""

    def __init__(self, redis: "Redis", counts: RecipientCounts, secret_key: str) -> None:
        self._redis = redis
        self._counts = counts
        self._secret = hashlib.sha256(b"recipient-counts\0" + secret_key.encode()).digest()

    def start(self, stop: threading.Event) -> None:
        """Begin to share, until `stop` is set."""
        threading.Thread(target=self._run, args=(stop,), name="recipients", daemon=True).start()

    def _run(self, stop: threading.Event) -> None:
        away = False
        while not stop.wait(RETRY_SECONDS if away else INTERVAL):
            try:
                self.share()
            except RedisError as error:
                if not away:
                    log.warning("messages to a phone are counted by each process for itself, Redis is away: %s", error)
                away = True
            else:
                away = False

    def share(self) -> None:
        """Tell what was counted, and learn the totals. Raises RedisError; what was counted is then not told again."""
        window, changes = self._counts.changes()
        subjects = list(changes)
        for start in range(0, len(subjects), BATCH_SIZE):
            some = subjects[start : start + BATCH_SIZE]
            pipeline = self._redis.pipeline(transaction=False)
            for subject in some:
                pipeline.incrby(self._key(window, subject), changes[subject])
                pipeline.expire(self._key(window, subject), KEPT)
                pipeline.get(self._key(window - 1, subject))
            replies: list[Any] = pipeline.execute()
            totals = {
                subject: (int(replies[3 * number]), int(replies[3 * number + 2] or 0))
                for number, subject in enumerate(some)
            }
            self._counts.learn(window, totals)

    def _key(self, window: int, subject: Subject) -> str:
        digest = hmac.digest(self._secret, repr(tuple(subject)).encode(), "sha256")
        return f"bulksms:recipient:{window}:{digest[:16].hex()}"
