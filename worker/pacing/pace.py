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
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from redis import Redis
from redis.exceptions import RedisError

from worker.pacing.redis_scripts import BOOK, BURST, COOLING, DECREASE, ENOUGH, FLOOR, GROWTH, SLOW, TAKE

CHUNK = 0.015
"""Seconds' worth of segments that leave together."""
LONGEST_BOOKING = 2.0
"""Seconds for which a turn waits until it may claim; otherwise it comes again, and finds what was changed."""
CROWDED, BRAKE = 3.0, 1.05
"""When more turns than this wait to submit, claims are made by so much slower than the rate, until they are fewer."""
CONTENDED = 0.5
"""When so many turns wait to submit, as a mean, the rate is what they wait for."""
RETRY_SECONDS = 5.0
"""Seconds for which Redis is left alone after a failure."""
HEARD, ASK_AGAIN = 3.0, 0.2
"""Seconds after which all workers know how many there are and which of them are without Redis, and until a worker
that waits for that looks again."""


class Rated(Protocol):
    """What has a name and a rate: a carrier."""

    name: str
    rate: float


@dataclass(slots=True)
class LiveWorkers:
    """The worker processes that are alive, as this one has last heard."""

    workers: int = 0
    """0: not heard yet."""
    alone: int = 0
    """Of the others, those without Redis."""
    since: float = field(default_factory=time.monotonic)
    """On the monotonic clock, when this worker first told the others that it is there."""


class Pacer:
    """What the paces of one worker process share: Redis, or its absence, and when to stop waiting."""

    def __init__(self, redis: "Redis | None", live_workers: LiveWorkers, stop: threading.Event) -> None:
        self.live_workers = live_workers
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
            reply = script(keys=[f"pace:{carrier}"], args=arguments)
        except RedisError:
            self._away_until = now + RETRY_SECONDS
            self._away_since = self._away_since or now
            return None
        self._away_since = None
        return reply

    def with_redis(self) -> float:
        """The part of a rate that is for those with Redis."""
        workers = max(1, self.live_workers.workers)
        return max(1, workers - self.live_workers.alone) / workers

    def share(self) -> float:
        """The part of a rate that is for this worker without Redis; 0 while the others may not know of it."""
        away = self._away_since
        if (
            away is None
            or not self.live_workers.workers
            or time.monotonic() < max(away, self.live_workers.since) + HEARD
        ):
            return 0.0
        return 1 / self.live_workers.workers


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

    @property
    def contended(self) -> bool:
        """Whether others wait to submit when this worker comes, as a rule."""
        return self.allowed > 0 and self._before > CONTENDED

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
        if self._before > CROWDED:
            segments *= BRAKE
        part = self._pacer.with_redis()
        reply = self._pacer.ask(self._pacer.book, self._carrier.name, self._carrier.rate, segments, part, patience)
        return 0.0 if reply is None else float(reply)

    def _wait(self, segments: int, patience: float, again: bool) -> float:
        """0 when the segments are taken; else seconds until it is worth asking again, or -1: that is too late."""
        rate, part = self._carrier.rate, self._pacer.with_redis()
        reply = self._pacer.ask(self._pacer.take, self._carrier.name, rate, segments, patience, part, int(again))
        if reply is None:
            return self._own_wait(segments, patience)
        allowed = float(reply[1])
        if self._slowed != float("-inf") and (allowed <= 0 or allowed >= rate > 0):
            self._slowed = float("-inf")
        elif 0 < allowed < rate or (rate <= 0 < allowed):
            self._remember(allowed, allowed if rate <= 0 else rate)
        return float(reply[0])

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
        rate, taken = self._carrier.rate, taken * max(1, self._pacer.live_workers.workers)
        reply = self._pacer.ask(self._pacer.slow, self._carrier.name, rate, taken)
        if reply is not None:
            self._remember(float(reply), rate if rate > 0 else self._base or taken)
            return
        allowed = self.allowed
        if time.monotonic() - self._slowed >= COOLING:
            base = rate if rate > 0 else (self._base if allowed > 0 else max(1.0, taken))
            self._remember(max(base * FLOOR, (allowed or base) * DECREASE), base)

    def _remember(self, limit: float, base: float) -> None:
        self._limit, self._base, self._slowed = limit, base, time.monotonic()
