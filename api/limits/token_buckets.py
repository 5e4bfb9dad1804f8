"""Request rate limits: token buckets for accounts, for keys with their own limit, and for failures of an address."""

import threading
import time

SESSION_REQUESTS_PER_SECOND = 20
"""Requests under /me with the token of one session."""
PERSON_REQUESTS_PER_SECOND = 40
"""Of all sessions of a person: none can use up what the others need."""
MAX_DEBT = 5
"""Bursts by which a bucket may go into debt. Bounds the wait."""


class Bucket:
    """The token bucket of one key: tokens left at `at`, refill per second, and tokens used since the last sync.

    Its capacity is `burst` seconds of refill.
    """

    __slots__ = ("at", "left", "rate", "used")

    def __init__(self, rate: float, left: float, at: float) -> None:
        self.rate = rate
        self.left = left
        self.at = at
        self.used = 0.0


class Buckets:
    """Token buckets by key, of one process; api/limits/shared_token_buckets.py synchronizes them between processes.

    A bucket refills at `rate` tokens per second, unless `take` gives another rate, and holds `burst` seconds of refill.
    At most `max_keys` keys are kept; beyond that the oldest is dropped.
    """

    def __init__(self, rate: float, burst: float = 1.0, max_keys: int = 10_000) -> None:
        self.rate = rate
        self.burst = burst
        self._max_keys = max_keys
        self._lock = threading.Lock()
        self._buckets: dict[object, Bucket] = {}

    def take(self, key: object, tokens: float = 1.0, rate: float | None = None) -> float:
        """Take tokens. Returns the tokens left; below zero if there were not enough, and then none are taken."""
        now = time.monotonic()
        with self._lock:
            bucket = self._buckets.get(key)
            wanted = rate or self.rate
            if bucket is None:
                bucket = self._make(key, wanted, now)
            elif bucket.rate != wanted:
                bucket.left, bucket.rate = min(bucket.left, wanted * self.burst), wanted
            left = min(bucket.rate * self.burst, bucket.left + (now - bucket.at) * bucket.rate) - tokens
            if left >= 0:
                bucket.left, bucket.at = left, now
                bucket.used += tokens
        return left

    def charge(self, key: object, tokens: float) -> float:
        """Take tokens, going into debt if there are too few. Returns the tokens left, at least -MAX_DEBT bursts."""
        with self._lock:
            now = time.monotonic()
            bucket = self._buckets.get(key) or self._make(key, self.rate, now)
            capacity = bucket.rate * self.burst
            left = min(capacity, bucket.left + (now - bucket.at) * bucket.rate)
            bucket.left, bucket.at = max(left - tokens, -MAX_DEBT * capacity), now
            bucket.used += tokens
            return bucket.left

    def left(self, key: object) -> float:
        """Tokens that could be taken now."""
        return self.take(key, 0.0)

    def wait(self, left: float, rate: float | None = None) -> int:
        """Whole seconds to wait, at least 1, when `take` returned `left` below zero."""
        return max(1, int(-left / (rate or self.rate)) + 1)

    def taken(self) -> list[tuple[object, float, float]]:
        """Key, rate and tokens used, of each bucket used since the last call."""
        with self._lock:
            used = [(key, bucket.rate, bucket.used) for key, bucket in self._buckets.items() if bucket.used]
            for key, _, _ in used:
                self._buckets[key].used = 0.0
        return used

    def correct(self, key: object, left: float) -> None:
        """Set the tokens left to the count of all processes, less the tokens used here since `taken`."""
        with self._lock:
            bucket = self._buckets.get(key)
            if bucket is not None:
                bucket.left, bucket.at = left - bucket.used, time.monotonic()

    def _make(self, key: object, rate: float, now: float) -> Bucket:
        if len(self._buckets) >= self._max_keys:
            self._buckets.pop(next(iter(self._buckets)))
        bucket = self._buckets[key] = Bucket(rate, rate * self.burst, now)
        return bucket
