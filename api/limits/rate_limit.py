"""Request limits: token buckets for accounts, for keys with a limit of their own, and for failures of an address."""

import threading
import time

MAX_DEBT = 5
"""Bursts that may be taken from a bucket beyond what is in it: nobody waits longer than for so many."""


class Bucket:
    """Tokens of one key: what was left at a time, the rate at which more come, and what was taken since the last sync.

    It holds as many as come in `burst` seconds.
    """

    __slots__ = ("at", "left", "rate", "used")

    def __init__(self, rate: float, left: float, at: float) -> None:
        self.rate = rate
        self.left = left
        self.at = at
        self.used = 0.0


class Buckets:
    """Token buckets by key, of one process; api/limits/shared_rate_limit.py lets those of all processes be one.

    `rate` per second, unless `take` says another; each holds what comes in `burst` seconds. At most `most` keys are
    remembered: beyond that the one is forgotten that is the longest here.
    """

    def __init__(self, rate: float, burst: float = 1.0, most: int = 10_000) -> None:
        self.rate = rate
        self.burst = burst
        self._most = most
        self._lock = threading.Lock()
        self._buckets: dict[object, Bucket] = {}

    def take(self, key: object, tokens: float = 1.0, rate: float | None = None) -> float:
        """Take tokens. Returns what is left, or below zero when there were not enough (then none are taken)."""
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
        """Take tokens that may not be there. Returns what is left: a debt below zero, of MAX_DEBT bursts at most."""
        with self._lock:
            now = time.monotonic()
            bucket = self._buckets.get(key) or self._make(key, self.rate, now)
            most = bucket.rate * self.burst
            left = min(most, bucket.left + (now - bucket.at) * bucket.rate)
            bucket.left, bucket.at = max(left - tokens, -MAX_DEBT * most), now
            bucket.used += tokens
            return bucket.left

    def left(self, key: object) -> float:
        """Tokens that could be taken now."""
        return self.take(key, 0.0)

    def wait(self, left: float, rate: float | None = None) -> int:
        """Whole seconds until one more can be taken, from what `take` returned below zero."""
        return max(1, int(-left / (rate or self.rate)) + 1)

    def taken(self) -> list[tuple[object, float, float]]:
        """Key, rate and tokens of all from which something was taken since this was asked last."""
        with self._lock:
            used = [(key, bucket.rate, bucket.used) for key, bucket in self._buckets.items() if bucket.used]
            for key, _, _ in used:
                self._buckets[key].used = 0.0
        return used

    def correct(self, key: object, left: float) -> None:
        """Take over what is left by the count of all processes, less what was taken here since `taken`."""
        with self._lock:
            bucket = self._buckets.get(key)
            if bucket is not None:
                bucket.left, bucket.at = left - bucket.used, time.monotonic()

    def _make(self, key: object, rate: float, now: float) -> Bucket:
        if len(self._buckets) >= self._most:
            self._buckets.pop(next(iter(self._buckets)))
        bucket = self._buckets[key] = Bucket(rate, rate * self.burst, now)
        return bucket
