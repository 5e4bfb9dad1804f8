"""Keeps all workers together at or below what a carrier takes.

One token bucket for each carrier in Redis, in segments, filled by Redis's clock, so small that no second, wherever it
begins, sees more than the rate and a few hundredths of it. Who finds it empty is told when to ask again, each at a time
of its own, and nothing is promised: who wakes up late takes nothing that somebody else had waited for.

When the carrier says that it is throttled, all workers slow down to 70 % of what was allowed, at most once a second;
from then on what is allowed grows again by 8 % of the rate each second (AIMD). A carrier without a rate is limited in
this way by what it took last, until nothing was throttled for some seconds.

Without Redis a worker takes a fair static share by its own clock, and the others leave it that share. It waits first
until they have heard of it, so that the rate is kept then too; and so it does when it does not know how many there are.

What is claimed leaves before what is more urgent and comes later. So claims are spaced at the carrier's rate too, a
little ahead of it: a turn books its time in the row, and claims when that has come.

Of a carrier there is the row `pace:<carrier>` in Redis: tokens as they were at the moment `at`, when the next who waits
shall ask (`next`), until when there is enough to do (`claimed`), and after throttling limit, since, base.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from redis import Redis
from redis.exceptions import RedisError

CHUNK = 0.015
"""Seconds' worth of segments that leave together."""
BURST = 0.035
"""Seconds' worth that the bucket holds: as much may be caught up."""
DECREASE, COOLING, FLOOR = 0.7, 1.0, 0.05
"""What is left after throttling, seconds until that may happen again, and the least part of the rate that is left."""
GROWTH = 0.08
"""Of the rate, each second, until all of it is allowed again: from FLOOR in 12 seconds."""
ENOUGH = 1.5
"""A carrier without a rate is limited until so much of what it took is allowed."""
AHEAD = 0.15
"""Seconds by which messages are claimed before they can leave, as the carrier would idle if a claim took longer."""
LONGEST_BOOKING = 2.0
"""Seconds for which a turn waits until it may claim; otherwise it comes again, and finds what was changed."""
CROWD, BRAKE = 3.0, 1.05
"""When more turns than this wait to submit, claims are made by so much slower than the rate, until they are fewer."""
LOOK_AWAY = 5.0
"""Seconds for which Redis is left alone after a failure."""
HEARD, ASK_AGAIN = 3.0, 0.2
"""Seconds after which all workers know how many there are and which of them are without Redis, and until a worker
that waits for that looks again."""

ALLOWED = f"""
local now = redis.call('TIME')
local at = now[1] + now[2] / 1000000
local key, rate = KEYS[1], tonumber(ARGV[1])
local row = redis.call('HMGET', key, 'tokens', 'limit', 'since', 'base', 'at', 'next')
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
if pace <= 0 then return {{'-1', tostring(allowed)}} end
local burst = math.max(1, pace * {BURST})
local tokens = math.min(burst, (tonumber(row[1]) or burst) + (at - (tonumber(row[5]) or at)) * pace)
local wait, next = 0, tonumber(row[6]) or 0
if tokens >= math.min(wanted, burst) then
    tokens = tokens - wanted
elseif ARGV[5] == '1' then
    wait = (math.min(wanted, burst) - tokens) / pace
else
    next = math.max(next, at - tokens / pace) + wanted / pace
    wait = next - at
end
if wait > patience then return {{'-1', tostring(allowed)}} end
redis.call('HSET', key, 'tokens', tostring(tokens), 'at', string.format('%.6f', at))
redis.call('HSET', key, 'next', string.format('%.6f', next))
redis.call('EXPIRE', key, 600)
return {{tostring(wait), tostring(allowed)}}
"""
"""Take so many segments. ARGV: rate, segments, how long they can wait, the part of the rate that Redis gives out, and
whether this asks again. Returns 0 when they may leave now, or else the seconds until it is worth asking again (-1: too
long), and what is allowed."""

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


BOOK = f"""{ALLOWED}
local pace = allowed * tonumber(ARGV[3])
if pace <= 0 then return '0' end
local claimed = tonumber(redis.call('HGET', key, 'claimed')) or 0
local wait = math.max(0, claimed - at - {AHEAD})
if wait > tonumber(ARGV[4]) then return '-1' end
redis.call('HSET', key, 'claimed', string.format('%.6f', math.max(at, claimed) + tonumber(ARGV[2]) / pace))
redis.call('EXPIRE', key, 600)
return tostring(wait)
"""
"""Book the claim of so many segments. ARGV: rate, segments (below 0: so many were booked and not claimed), the part of
the rate that Redis gives out, how long they can wait. Returns the seconds until they may be claimed; -1: too long, and
nothing is booked."""


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
        self.book: Any = redis.register_script(BOOK) if redis is not None else None
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
        self._tokens, self._at = 0.0, 0.0
        self._limit = 0.0
        self._slowed = float("-inf")
        self._base = 0.0
        self._before = 0.0
        """How many others wait to submit, when this worker comes; of late."""
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
        again = False
        while not self._pacer.stop.is_set():
            patience = deadline - time.monotonic()
            wait = self._wait(segments, patience, again)
            if not again and wait >= 0:
                self._before += 0.1 * (wait * self.allowed / segments - self._before)
            if wait == 0:
                return True
            if wait < 0:
                if not self._pacer.alone or self._pacer.share() > 0 or patience < ASK_AGAIN:
                    return False
                wait = ASK_AGAIN  # until the others have heard that this worker is without Redis
            if self._pacer.stop.wait(wait):
                return False
            again = True
        return False

    def book(self, segments: int) -> bool:
        """Wait until a turn may claim so many segments. False: it takes too long, or this worker stops.

        Without Redis, or a rate, they may be claimed at once.
        """
        if self.allowed <= 0:
            return True
        wait = self._book(segments, LONGEST_BOOKING)
        return wait >= 0 and not (wait > 0 and self._pacer.stop.wait(wait))

    def booked(self, segments: int, claimed: int) -> None:
        """What was claimed where so many segments were booked."""
        if claimed != segments and self.allowed > 0:
            self._book(claimed - segments, 1e9)

    def _book(self, segments: float, patience: float) -> float:
        if self._before > CROWD:
            segments *= BRAKE
        part = self._pacer.with_redis()
        said = self._pacer.ask(self._pacer.book, self._carrier.name, self._carrier.rate, segments, part, patience)
        return 0.0 if said is None else float(said)

    def _wait(self, segments: int, patience: float, again: bool) -> float:
        """0 when the segments are taken; else seconds until it is worth asking again, or -1: that is too late."""
        rate, part = self._carrier.rate, self._pacer.with_redis()
        said = self._pacer.ask(self._pacer.take, self._carrier.name, rate, segments, patience, part, int(again))
        if said is None:
            return self._own_wait(segments, patience)
        allowed = float(said[1])
        if self._slowed != float("-inf") and (allowed <= 0 or allowed >= rate > 0):
            self._slowed = float("-inf")
        elif 0 < allowed < rate or (rate <= 0 < allowed):
            self._remember(allowed, allowed if rate <= 0 else rate)
        return float(said[0])

    def _own_wait(self, segments: int, patience: float) -> float:
        """The same without Redis, by this worker's clock and share."""
        allowed = self.allowed
        if allowed <= 0:
            return 0.0
        pace = allowed * self._pacer.share()
        if pace <= 0:
            return -1.0
        with self._lock:
            now = time.monotonic()
            burst = max(1.0, pace * BURST)
            self._tokens = min(burst, self._tokens + (now - self._at) * pace)
            self._at = now
            wait = (min(segments, burst) - self._tokens) / pace
            if wait > 1e-9:
                return wait if wait <= patience else -1.0
            self._tokens -= segments
            return 0.0

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
