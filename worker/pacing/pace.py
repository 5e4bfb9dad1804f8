"""Keeps all workers together at or below a carrier's rate.

Each carrier has one token bucket in Redis, in segments, filled by Redis's clock. It is so small that no interval of one
second exceeds the rate by more than a few percent. A caller that finds it empty gets its own time to ask again, but no
reservation: a caller that wakes up late takes nothing from others that waited.

When the carrier throttles, all workers slow down to 70 % of the allowed rate, at most once a second. After that the
allowed rate grows by 8 % of the carrier's rate each second (AIMD). A carrier without a rate is limited in this way from
what it took last, until nothing has been throttled for some seconds.

Without Redis, a worker takes a fair static share by its own clock, and the others leave it that share. It first waits
until the others know of it, or until it knows how many workers there are, so that the rate is kept even then.

Claimed messages are sent before more urgent ones that come later. So claims too are spaced at the carrier's rate, a
little ahead of it: a cycle schedules its claim, and claims when its time has come.
"""

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from redis import Redis
from redis.exceptions import RedisError

from shared.observability.metrics import CONNECTION_FAILURES
from worker.pacing.redis_scripts import (
    BURST,
    DECREASE,
    DECREASE_INTERVAL_SECONDS,
    FLOOR,
    GROWTH,
    LIMIT_ENDS_AT,
    SCHEDULE,
    TAKE_TOKENS,
    THROTTLE,
)

log = logging.getLogger(__name__)

CHUNK = 0.015
"""Segments written together, as seconds of the rate."""
MAX_CLAIM_WAIT = 2.0
"""Seconds that a cycle waits for its claim at most. Otherwise it ends, and the next one sees changed settings."""
MAX_WAITING_CYCLES, CROWDED_SPACING = 3.0, 1.05
"""If more cycles than MAX_WAITING_CYCLES wait to submit, claims are spaced wider by the factor CROWDED_SPACING."""
CONTENDED = 0.5
"""Mean number of cycles waiting to submit, above which the rate is the bottleneck."""
RETRY_SECONDS = 5.0
"""Seconds without using Redis after a failure."""
CONVERGENCE_SECONDS, RECHECK_SECONDS = 3.0, 0.2
"""Seconds after which all workers know how many there are and which are without Redis; seconds between the checks of a
worker that waits for that."""


class HasRate(Protocol):
    """Anything with a name and a rate: a carrier or a limit."""

    name: str
    rate: float


@dataclass(slots=True)
class LiveWorkers:
    """The worker processes that are alive, as last read from the database."""

    workers: int = 0
    """Their number; 0 if not known yet."""
    without_redis: int = 0
    """The number of other workers without Redis."""
    since: float = field(default_factory=time.monotonic)
    """When this worker first reported that it is alive, on the monotonic clock."""


class Pacer:
    """The state shared by all paces of one worker process: Redis and its availability, and the stop event."""

    def __init__(self, redis: "Redis | None", live_workers: LiveWorkers, stop: threading.Event) -> None:
        self.live_workers = live_workers
        self.stop = stop
        self.take: Any = redis.register_script(TAKE_TOKENS) if redis is not None else None
        self.throttle: Any = redis.register_script(THROTTLE) if redis is not None else None
        self.schedule: Any = redis.register_script(SCHEDULE) if redis is not None else None
        self._away_since: float | None = None if redis is not None else time.monotonic()
        self._away_until = 0.0 if redis is not None else float("inf")
        self._lock = threading.Lock()

    @property
    def is_without_redis(self) -> bool:
        """Whether this worker is without Redis."""
        return self._away_since is not None

    def run(self, script: Any, carrier: str, *arguments: float) -> Any:
        """Run the script. Returns its reply; None without Redis."""
        now = time.monotonic()
        if now < self._away_until:
            return None
        try:
            reply = script(keys=[f"pace:{carrier}"], args=arguments)
        except RedisError as error:
            CONNECTION_FAILURES.labels("redis").inc()
            self._failed(now, error)
            return None
        if self._away_since is not None:
            self._succeeded(now)
        return reply

    def _failed(self, began: float, error: RedisError) -> None:
        with self._lock:
            self._away_until = max(self._away_until, began + RETRY_SECONDS)
            first = self._away_since is None
            self._away_since = began if first else self._away_since
        if first:
            log.warning("Redis is unavailable; this worker keeps to its share of each rate: %s", error)

    def _succeeded(self, began: float) -> None:
        """Redis is back, unless this call began before another one failed."""
        with self._lock:
            back = self._away_since is not None and began >= self._away_until
            self._away_since = None if back else self._away_since
        if back:
            log.info("Redis is available again")

    def connected_share(self) -> float:
        """The share of a rate for the workers with Redis."""
        workers = max(1, self.live_workers.workers)
        return max(1, workers - self.live_workers.without_redis) / workers

    def share(self) -> float:
        """This worker's share of a rate without Redis; 0 while the others may not know of it."""
        away = self._away_since
        if (
            away is None
            or not self.live_workers.workers
            or time.monotonic() < max(away, self.live_workers.since) + CONVERGENCE_SECONDS
        ):
            return 0.0
        return 1 / self.live_workers.workers


class CarrierPace:
    """The pace of one carrier (`worker.carriers.base.Pace`). Thread-safe."""

    def __init__(self, pacer: Pacer, carrier: HasRate) -> None:
        self._pacer = pacer
        self._carrier = carrier
        self._lock = threading.Lock()
        self._tokens, self._at = 0.0, 0.0
        self._limit = 0.0
        self._slowed = float("-inf")
        self._base = 0.0
        self._queue_length = 0.0
        """Moving average of the number of others waiting to submit."""

    @property
    def allowed(self) -> float:
        """Segments per second that all workers together may submit at present; 0 means no limit."""
        rate = self._carrier.rate
        if self._slowed == float("-inf"):
            return rate
        base = rate if rate > 0 else self._base
        allowed = self._limit + base * GROWTH * (time.monotonic() - self._slowed)
        if rate > 0:
            return min(rate, allowed)
        return allowed if allowed < base * LIMIT_ENDS_AT else 0.0

    @property
    def chunk(self) -> int:
        """The most segments written together; 0 while there is no limit."""
        allowed = self.allowed
        return max(1, int(allowed * CHUNK)) if allowed > 0 else 0

    @property
    def contended(self) -> bool:
        """Whether others usually wait to submit."""
        return self.allowed > 0 and self._queue_length > CONTENDED

    def take(self, segments: int, deadline: float) -> bool:
        """Wait until this many segments may be written. False if not before `deadline` (monotonic), or if stopped."""
        again = False
        while not self._pacer.stop.is_set():
            patience, was_without_redis = deadline - time.monotonic(), self._pacer.is_without_redis
            wait = self._wait(segments, patience, again)
            if not again and wait >= 0:
                self._queue_length += 0.1 * (wait * self.allowed / segments - self._queue_length)
            if wait == 0:
                return True
            if wait < 0:
                is_without_redis = was_without_redis or self._pacer.is_without_redis
                if not is_without_redis or self._pacer.share() > 0 or patience < RECHECK_SECONDS:
                    return False
                wait = RECHECK_SECONDS  # until the others know that this worker is without Redis
            if self._pacer.stop.wait(wait):
                return False
            again = True
        return False

    def schedule_claim(self, segments: int) -> bool:
        """Wait until a cycle may claim this many segments. False if that takes too long, or if stopped.

        Without Redis or without a rate, they may be claimed at once.
        """
        if self.allowed <= 0:
            return True
        wait = self._schedule(segments, MAX_CLAIM_WAIT)
        return wait >= 0 and not (wait > 0 and self._pacer.stop.wait(wait))

    def correct_schedule(self, segments: int, claimed: int) -> None:
        """Correct the schedule by the segments that were actually claimed."""
        if claimed != segments and self.allowed > 0:
            self._schedule(claimed - segments, 1e9)

    def _schedule(self, segments: float, patience: float) -> float:
        if self._queue_length > MAX_WAITING_CYCLES:
            segments *= CROWDED_SPACING
        share = self._pacer.connected_share()
        reply = self._pacer.run(self._pacer.schedule, self._carrier.name, self._carrier.rate, segments, share, patience)
        return 0.0 if reply is None else float(reply)

    def _wait(self, segments: int, patience: float, again: bool) -> float:
        """Try to take the segments. Returns 0 if taken, the seconds until a retry, or -1 if that is too late."""
        rate, share = self._carrier.rate, self._pacer.connected_share()
        reply = self._pacer.run(self._pacer.take, self._carrier.name, rate, segments, patience, share, int(again))
        if reply is None:
            return self._own_wait(segments, patience)
        allowed = float(reply[1])
        if self._slowed != float("-inf") and (allowed <= 0 or allowed >= rate > 0):
            self._slowed = float("-inf")
        elif 0 < allowed < rate or (rate <= 0 < allowed):
            self._remember(allowed, allowed if rate <= 0 else rate)
        return float(reply[0])

    def _own_wait(self, segments: int, patience: float) -> float:
        """`_wait` without Redis, by this worker's clock and share."""
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
        """Slow down all workers. `taken` is what this worker submitted, in segments per second."""
        rate, taken = self._carrier.rate, taken * max(1, self._pacer.live_workers.workers)
        reply = self._pacer.run(self._pacer.throttle, self._carrier.name, rate, taken)
        if reply is not None:
            self._remember(float(reply), rate if rate > 0 else self._base or taken)
            return
        allowed = self.allowed
        if time.monotonic() - self._slowed >= DECREASE_INTERVAL_SECONDS:
            base = rate if rate > 0 else (self._base if allowed > 0 else max(1.0, taken))
            self._remember(max(base * FLOOR, (allowed or base) * DECREASE), base)

    def _remember(self, limit: float, base: float) -> None:
        self._limit, self._base, self._slowed = limit, base, time.monotonic()
