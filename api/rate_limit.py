"""Request limits of one API process: a token bucket for each account, and one for failures of each address."""

import threading
import time


class Buckets:
    """Token buckets by key: `rate` per second, holding `burst`. At most `most` keys are remembered."""

    def __init__(self, rate: float, burst: float, most: int = 10_000) -> None:
        self.rate = rate
        self.burst = burst
        self._most = most
        self._lock = threading.Lock()
        self._buckets: dict[object, tuple[float, float]] = {}

    def take(self, key: object, tokens: float = 1.0) -> float:
        """Take tokens. Returns what is left, or below zero when there were not enough (then none are taken)."""
        now = time.monotonic()
        with self._lock:
            left, at = self._buckets.get(key, (self.burst, now))
            left = min(self.burst, left + (now - at) * self.rate) - tokens
            if left >= 0:
                if len(self._buckets) >= self._most and key not in self._buckets:
                    self._buckets.pop(next(iter(self._buckets)))
                self._buckets[key] = (left, now)
        return left

    def left(self, key: object) -> float:
        """Tokens that could be taken now."""
        return self.take(key, 0.0)

    def wait(self, left: float) -> int:
        """Whole seconds until one more can be taken, from what `take` returned below zero."""
        return max(1, int(-left / self.rate) + 1)
