"""Lets the API's processes count requests together, in Redis, of which no request asks anything.

Each process takes from buckets of its own, and ten times a second a thread tells Redis what was taken and hears what is
left of all. So a limit is kept on average, whatever the number of processes; in a tenth of a second each of them may go
beyond it once, and what was too much is missing afterwards. While Redis is away each process counts for itself.
"""

import logging
import threading
import time
from collections.abc import Mapping
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

from api.limits.rate_limit import MAX_DEBT, Buckets

log = logging.getLogger(__name__)

INTERVAL = 0.1
RETRY_SECONDS = 5.0
"""Seconds for which Redis is left alone after a failure."""
BATCH_SIZE = 500
"""Buckets in one call."""

COUNT = f"""
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local answer = {{}}
for place, key in ipairs(KEYS) do
    local rate, most, used = tonumber(ARGV[3 * place - 2]), tonumber(ARGV[3 * place - 1]), tonumber(ARGV[3 * place])
    local kept = redis.call('HMGET', key, 'left', 'at')
    local left = most
    if kept[1] then left = math.min(most, tonumber(kept[1]) + math.max(0, now - tonumber(kept[2])) * rate) end
    left = math.max(left - used, -{MAX_DEBT} * most)
    redis.call('HSET', key, 'left', tostring(left), 'at', string.format('%.6f', now))
    redis.call('PEXPIRE', key, math.ceil(1000 * (most - left) / rate) + 1000)
    answer[place] = tostring(left)
end
return answer
"""
"""Takes what was used from each bucket, which may leave a debt. A bucket that would be full again is forgotten."""


class SharedRateLimit:
    """Shares the buckets of one process, by name, with those of the others."""

    def __init__(self, redis: Redis, buckets: Mapping[str, Buckets]) -> None:
        self._redis = redis
        self._buckets = buckets
        self._count = redis.register_script(COUNT)

    def start(self) -> None:
        """Begin to count together, until the process ends."""
        threading.Thread(target=self._run, name="sharing", daemon=True).start()

    def _run(self) -> None:
        away = False
        while True:
            time.sleep(RETRY_SECONDS if away else INTERVAL)
            try:
                self.count()
            except RedisError as error:
                if not away:
                    log.warning("requests are counted by each process for itself, Redis is away: %s", error)
                away = True
            else:
                away = False

    def count(self) -> None:
        """Tell what was taken, and correct what is left. Raises RedisError; what was taken is then not told again."""
        for name, buckets in self._buckets.items():
            taken = buckets.taken()
            for start in range(0, len(taken), BATCH_SIZE):
                some = taken[start : start + BATCH_SIZE]
                keys = [f"bulksms:rate:{name}:{key}" for key, _, _ in some]
                numbers = [number for _, rate, used in some for number in (rate, rate * buckets.burst, used)]
                left = cast("list[bytes]", self._count(keys=keys, args=numbers))
                for (key, _, _), each in zip(some, left, strict=True):
                    buckets.correct(key, float(each))
