"""Keeps all workers together at or below what a carrier takes.

Every few segments get a place in time, one after the other, from one clock and one row for each carrier in Redis. So
no second, wherever it begins, sees more than the rate and a few hundredths of it. Who wakes up too late for a place
takes another one, because those behind it will not wait.

When the carrier says that it is throttled, all workers slow down to 70 % of what was allowed, at most once a second;
from then on what is allowed grows again by 8 % of the rate each second (AIMD). A carrier without a rate is limited in
this way by what it took last, until nothing was throttled for some seconds.

Without Redis a worker takes a fair static share by its own clock, and the others leave it that share. It waits first
until they have heard of it, so that the rate is kept then too; and so it does when it does not know how many there are.

    RATE      row `pace:<carrier>` in Redis: free (when the next place is), limit, since, base (after throttling)
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from redis import Redis
from redis.exceptions import RedisError

CHUNK = 0.015
"""Seconds' worth of segments that leave together."""
CREDIT = 0.01
"""Seconds that nobody used and that may be caught up."""
LATE = 0.02
"""Seconds after its place when that is lost."""
DECREASE, COOLING, FLOOR = 0.7, 1.0, 0.05
"""What is left after throttling, seconds until that may happen again, and the least part of the rate that is left."""
GROWTH = 0.08
"""Of the rate, each second, until all of it is allowed again: from FLOOR in 12 seconds."""
ENOUGH = 1.5
"""A carrier without a rate is limited until so much of what it took is allowed."""
LOOK_AWAY = 5.0
"""Seconds for which Redis is left alone after a failure."""
HEARD, ASK_AGAIN = 3.0, 0.2
"""Seconds after which all workers know how many there are and which of them are without Redis, and until a worker
that waits for that looks again."""

ALLOWED = f"""
local now = redis.call('TIME')
local at = now[1] + now[2] / 1000000
local key, rate = KEYS[1], tonumber(ARGV[1])
local row = redis.call('HMGET', key, 'free', 'limit', 'since', 'base')
local base, allowed = rate, rate
if row[2] then
    if rate <= 0 then base = tonumber(row[4]) end
    allowed = tonumber(row[2]) + base * {GROWTH} * (at - tonumber(row[3]))
    if rate > 0 then allowed = math.min(rate, allowed) elseif allowed >= base * {ENOUGH} then allowed = 0 end
end
"""
"""Begins both scripts: what is allowed now, in segments per second; 0 is no limit. ARGV[1] is the rate."""

TAKE = f"""{ALLOWED}
local wanted, patience = tonumber(ARGV[2]), tonumber(ARGV[3])
if allowed <= 0 then return {{'0', '0'}} end
local pace = allowed * tonumber(ARGV[4])
local free = math.max(tonumber(row[1]) or 0, at - {CREDIT})
if pace <= 0 or free - at > patience then return {{'-1', tostring(allowed)}} end
redis.call('HSET', key, 'free', string.format('%.6f', free + wanted / pace))
redis.call('EXPIRE', key, 600)
return {{tostring(math.max(0, free - at)), tostring(allowed)}}
"""
"""A place for so many segments. ARGV: rate, segments, how long they can wait, the part of it that Redis gives out.
Returns the wait in seconds (-1: too long, and no place is taken) and what is allowed."""

SLOW = f"""{ALLOWED}
if row[2] and at - tonumber(row[3]) < {COOLING} then return tostring(allowed) end
if rate <= 0 then base = math.max(1, allowed > 0 and base or tonumber(ARGV[2])) end
if allowed <= 0 then allowed = base end
local limit = math.max(base * {FLOOR}, allowed * {DECREASE})
redis.call('HSET', key, 'limit', tostring(limit), 'since', string.format('%.6f', at), 'base', tostring(base))
redis.call('EXPIRE', key, 600)
return tostring(limit)
"""
"""The carrier throttles. ARGV: rate, what it took last. Returns what is allowed now."""


class Rated(Protocol):
    """What has a name and a rate: a carrier."""

    name: str
    rate: float


@dataclass(slots=True)
class Crowd:
    """The worker processes that are alive, as this one has last heard."""

    workers: int = 0
    """0: not heard yet."""
    alone: int = 0
    """Of the others, those without Redis."""
    since: float = field(default_factory=time.monotonic)
    """On the monotonic clock, when this worker first told the others that it is there."""


class Pacer:
    """What the paces of one worker process share: Redis, or its absence, and when to stop waiting."""

    def __init__(self, redis: "Redis | None", crowd: Crowd, stop: threading.Event) -> None:
        self.crowd = crowd
        self.stop = stop
        self.take: Any = redis.register_script(TAKE) if redis is not None else None
        self.slow: Any = redis.register_script(SLOW) if redis is not None else None
        self._away_since: float | None = None if redis is not None else time.monotonic()
        self._away_until = 0.0 if redis is not None else float("inf")

    @property
    def alone(self) -> bool:
        """Whether this worker is without Redis."""
        return self._away_since is not None

    def ask(self, script: Any, carrier: str, *arguments: float) -> Any:
        """What the script says; None without Redis."""
        now = time.monotonic()
        if now < self._away_until:
            return None
        try:
            said = script(keys=[f"pace:{carrier}"], args=arguments)
        except RedisError:
            self._away_until = now + LOOK_AWAY
            self._away_since = self._away_since or now
            return None
        self._away_since = None
        return said

    def with_redis(self) -> float:
        """The part of a rate that is for those with Redis."""
        workers = max(1, self.crowd.workers)
        return max(1, workers - self.crowd.alone) / workers

    def share(self) -> float:
        """The part of a rate that is for this worker without Redis; 0 while the others may not know of it."""
        away = self._away_since
        if away is None or not self.crowd.workers or time.monotonic() < max(away, self.crowd.since) + HEARD:
            return 0.0
        return 1 / self.crowd.workers


class CarrierPace:
    """The pace of one carrier (`worker.carriers.base.Pace`). Safe to use from several threads."""

    def __init__(self, pacer: Pacer, carrier: Rated) -> None:
        self._pacer = pacer
        self._carrier = carrier
        self._lock = threading.Lock()
        self._free = 0.0
        self._limit = 0.0
        self._slowed = float("-inf")
        self._base = 0.0
        self.throttles = 0
        """How often the carrier was found to throttle."""

    @property
    def allowed(self) -> float:
        """Segments per second that all workers together may submit at present; 0 is no limit."""
        rate = self._carrier.rate
        if self._slowed == float("-inf"):
            return rate
        base = rate if rate > 0 else self._base
        allowed = self._limit + base * GROWTH * (time.monotonic() - self._slowed)
        if rate > 0:
            return min(rate, allowed)
        return allowed if allowed < base * ENOUGH else 0.0

    @property
    def chunk(self) -> int:
        """Segments that leave together at most; 0 while there is no limit."""
        allowed = self.allowed
        return max(1, int(allowed * CHUNK)) if allowed > 0 else 0

    def take(self, segments: int, deadline: float) -> bool:
        """Wait until so many segments may leave. False: not before `deadline` (monotonic), or this worker stops."""
        while not self._pacer.stop.is_set():
            now = time.monotonic()
            wait = self._place(segments, deadline - now)
            if wait is None and self._pacer.alone and self._pacer.share() <= 0 and now + ASK_AGAIN < deadline:
                self._pacer.stop.wait(ASK_AGAIN)  # until the others have heard that this worker is without Redis
                continue
            if wait is None:
                return False
            if wait > 0 and self._pacer.stop.wait(wait):
                return False
            if time.monotonic() - now - wait <= LATE:
                return True
        return False

    def _place(self, segments: int, patience: float) -> float | None:
        """Seconds until this worker's place; None when that is too late, and it has none."""
        rate = self._carrier.rate
        said = self._pacer.ask(self._pacer.take, self._carrier.name, rate, segments, patience, self._pacer.with_redis())
        if said is None:
            return self._own_place(segments, patience)
        wait, allowed = float(said[0]), float(said[1])
        if self._slowed != float("-inf") and (allowed <= 0 or allowed >= rate > 0):
            self._slowed = float("-inf")
        elif 0 < allowed < rate or (rate <= 0 < allowed):
            self._remember(allowed, allowed if rate <= 0 else rate)
        return wait if wait >= 0 else None

    def _own_place(self, segments: int, patience: float) -> float | None:
        """The same without Redis, by this worker's clock and share."""
        allowed = self.allowed
        if allowed <= 0:
            return 0.0
        pace = allowed * self._pacer.share()
        with self._lock:
            now = time.monotonic()
            free = max(self._free, now - CREDIT)
            if pace > 0 and free - now <= patience:
                self._free = free + segments / pace
                return max(0.0, free - now)
        return None

    def throttled(self, taken: float) -> None:
        """The carrier throttles all of us; `taken` is what this worker submitted, in segments per second."""
        self.throttles += 1
        rate, taken = self._carrier.rate, taken * max(1, self._pacer.crowd.workers)
        said = self._pacer.ask(self._pacer.slow, self._carrier.name, rate, taken)
        if said is not None:
            self._remember(float(said), rate if rate > 0 else self._base or taken)
            return
        allowed = self.allowed
        if time.monotonic() - self._slowed >= COOLING:
            base = rate if rate > 0 else (self._base if allowed > 0 else max(1.0, taken))
            self._remember(max(base * FLOOR, (allowed or base) * DECREASE), base)

    def _remember(self, limit: float, base: float) -> None:
        self._limit, self._base, self._slowed = limit, base, time.monotonic()
