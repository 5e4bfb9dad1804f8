"""Adds up the processes' counts of messages to phones, in Redis. Its keys hold a keyed hash of the phone."""

import hashlib
import hmac
import threading
from typing import Any

from redis import Redis

from shared.periodic import repeat
from shared.sends.recipient_counts import RecipientCounts, Subject

SYNC_SECONDS = 0.25
COUNTS_PER_CALL = 500
"""Counts per pipeline."""
KEY_SECONDS = 7300
"""A key lives through its window and the next one."""


class RecipientSharing:
    """Adds one process's counts to Redis, and learns the total of all processes."""

    def __init__(self, redis: "Redis", counts: RecipientCounts, secret_key: str) -> None:
        self._redis = redis
        self._counts = counts
        self._secret = hashlib.sha256(b"recipient-counts\0" + secret_key.encode()).digest()

    def start(self, stop: threading.Event | None = None) -> None:
        """Share every SYNC_SECONDS in a background thread, until `stop` is set."""
        outage = "Redis is unavailable; each process counts messages to a phone number on its own"
        repeat(self.share, SYNC_SECONDS, "recipients", stop, outage=outage)

    def share(self) -> None:
        """Add the new counts, and learn the totals. Raises RedisError; the new counts are then not added again."""
        window, changes = self._counts.changes()
        subjects = list(changes)
        for start in range(0, len(subjects), COUNTS_PER_CALL):
            batch = subjects[start : start + COUNTS_PER_CALL]
            pipeline = self._redis.pipeline(transaction=False)
            for subject in batch:
                pipeline.incrby(self._key(window, subject), changes[subject])
                pipeline.expire(self._key(window, subject), KEY_SECONDS)
                pipeline.get(self._key(window - 1, subject))
            replies: list[Any] = pipeline.execute()
            totals = {
                subject: (int(replies[3 * number]), int(replies[3 * number + 2] or 0))
                for number, subject in enumerate(batch)
            }
            self._counts.learn(window, totals)

    def _key(self, window: int, subject: Subject) -> str:
        digest = hmac.digest(self._secret, repr(tuple(subject)).encode(), "sha256")
        return f"bulksms:recipient:{window}:{digest[:16].hex()}"
