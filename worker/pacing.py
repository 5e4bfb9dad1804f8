"""Keeps all workers together at or below a carrier's rate.

One token bucket per carrier in Redis, in segments, filled by Redis's clock, holding at most a twentieth of a second's
worth, so that no second sees much more than the rate. Without Redis each worker takes a fair static
share: the rate divided by the workers that were alive when last counted.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

BURST = 0.05
"""Seconds' worth of tokens that a bucket holds."""
LOOK_AWAY = 5.0
"""Seconds for which Redis is left alone after a failure."""

TAKE = """
local now = redis.call('TIME')
local at = now[1] + now[2] / 1000000
local rate, wanted = tonumber(ARGV[1]), tonumber(ARGV[2])
local burst = math.max(wanted, rate * tonumber(ARGV[3]))
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = math.min(burst, (tonumber(state[1]) or burst) + (at - (tonumber(state[2]) or at)) * rate)
tokens = tokens - wanted
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', tostring(at))
redis.call('EXPIRE', KEYS[1], 60)
return tostring(tokens >= 0 and 0 or -tokens / rate)
"""


class Pacer:
    """Makes its callers wait until the carrier may have their segments."""

    def __init__(self, redis: "Redis | None", workers: Callable[[], int]) -> None:
        self._redis = redis
        self._workers = workers
        self._script: Any = redis.register_script(TAKE) if redis is not None else None
        self._away_until = 0.0
        self._lock = threading.Lock()
        self._local: dict[str, float] = {}

    def take(self, carrier: str, rate: float, segments: int, stop: threading.Event) -> bool:
        """Wait for `segments` of the carrier's `rate` (segments per second; 0 is no limit). False when stopped."""
        if rate <= 0:
            return True
        return not stop.wait(self._delay(carrier, rate, segments))

    def _delay(self, carrier: str, rate: float, segments: int) -> float:
        if self._script is not None and time.monotonic() >= self._away_until:
            try:
                return float(self._script(keys=[f"rate:{carrier}"], args=[rate, segments, BURST]))
            except RedisError:
                self._away_until = time.monotonic() + LOOK_AWAY
        return self._share(carrier, rate / max(1, self._workers()), segments)

    def _share(self, carrier: str, rate: float, segments: int) -> float:
        """The wait for this process's part of the rate, by its own clock."""
        with self._lock:
            now = time.monotonic()
            free_at = max(self._local.get(carrier, 0.0), now)
            self._local[carrier] = free_at + segments / rate
            return free_at - now
