"""Share request limits between API processes through Redis, without a Redis call in any request.

Each process takes from its own buckets. Ten times a second a thread reports the tokens used to Redis and reads how many
are left for all processes. So a limit holds on average for any number of processes; within a tenth of a second each may
exceed it once, and the excess is deducted afterwards. While Redis is unavailable each process counts for itself.
"""

from collections.abc import Mapping
from typing import cast

from redis import Redis

from api.limits.rate_limits import Buckets
from shared.periodic import repeat

SYNC_SECONDS = 0.1
"""Seconds between synchronizations."""
BUCKETS_PER_CALL = 500
"""Buckets per call of the script."""

COUNT = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local result = {}
for index, key in ipairs(KEYS) do
    local rate, capacity, used = tonumber(ARGV[3 * index - 2]), tonumber(ARGV[3 * index - 1]), tonumber(ARGV[3 * index])
    local stored = redis.call('HMGET', key, 'left', 'at')
    local left = capacity
    if stored[1] then left = math.min(capacity, tonumber(stored[1]) + math.max(0, now - tonumber(stored[2])) * rate) end
    left = left - used
    redis.call('HSET', key, 'left', tostring(left), 'at', string.format('%.6f', now))
    redis.call('PEXPIRE', key, math.ceil(1000 * (capacity - left) / rate) + 1000)
    result[index] = tostring(left)
end
return result
"""
"""Deducts the tokens used from each bucket, below zero where processes have taken the same ones. A bucket expires when
it would be full again."""


class SharedRateLimit:
    """Synchronizes the named buckets of one process with those of the others."""

    def __init__(self, redis: Redis, buckets: Mapping[str, Buckets]) -> None:
        self._redis = redis
        self._buckets = buckets
        self._count = redis.register_script(COUNT)

    def start(self) -> None:
        """Start synchronizing in a daemon thread."""
        outage = "Redis is unavailable; each API process limits requests on its own"
        repeat(self.count, SYNC_SECONDS, "rate-limits", outage=outage)

    def count(self) -> None:
        """Report the tokens used and correct the tokens left. Raises RedisError; the tokens used are then not reported
        again."""
        for name, buckets in self._buckets.items():
            taken = buckets.taken()
            for start in range(0, len(taken), BUCKETS_PER_CALL):
                batch = taken[start : start + BUCKETS_PER_CALL]
                keys = [f"bulksms:rate:{name}:{key}" for key, _, _ in batch]
                arguments = [number for _, rate, used in batch for number in (rate, rate * buckets.burst, used)]
                left = cast("list[bytes]", self._count(keys=keys, args=arguments))
                for (key, _, _), tokens in zip(batch, left, strict=True):
                    buckets.correct(key, float(tokens))
