"""Request rate limits: token buckets, and the requests that are counted in them. Accounts have buckets, keys with their
own limit, operators, sessions of people and people.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

from api.auth.operator_tokens import Operator
from api.auth.person_sessions import SignedIn
from api.auth.tokens import Caller
from api.problems import Problem
from shared.accounts.limits import Limits
from shared.plurals import counted
from shared.settings import Settings

SESSION_REQUESTS_PER_SECOND = 20
"""Requests under /me with the token of one session."""
PERSON_REQUESTS_PER_SECOND = 40
"""Of all sessions of a person: none can use up what the others need."""


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


class CountedRequest(Protocol):
    """A request, whatever protocol it came by."""

    rate_limit: tuple[int, int] | None
    """The caller's limit in requests per second, and how many are left now; None before it is counted."""


class RateLimits:
    """Counts requests against the limits of their callers."""

    def __init__(self, settings: Settings, limits_of: Callable[[int], Limits]) -> None:
        """`limits_of` knows the limits of an account."""
        self._limits_of = limits_of
        self._rate, self._sandbox_rate = settings.requests_per_second, settings.sandbox_requests_per_second
        self.requests = Buckets(self._rate)
        """By account, key or operator."""
        self.of_sessions = Buckets(min(self._rate, SESSION_REQUESTS_PER_SECOND))
        self.of_persons = Buckets(min(self._rate, PERSON_REQUESTS_PER_SECOND))

    def rate_of(self, caller: Caller, limits: Limits) -> int:
        """Requests per second of the caller's account, or of its sandbox for a test key."""
        rate = limits.requests_per_second or self._rate
        return min(rate, self._sandbox_rate) if caller.test else rate

    def take(self, request: CountedRequest, caller: Caller) -> None:
        """Count a request against its account's limit, and the key's if it has one. Raises Problem rate_limited.

        A request that is handled again in a thread (api/event_loop.py) is counted only once.
        """
        if request.rate_limit is not None:
            return
        self._note(request, *self._take(caller))

    def take_if_within(self, caller: Caller) -> bool:
        """Count a request of the caller if it is within the limits. Returns whether it is."""
        if caller.rate is not None and self.delay(caller):
            return False
        return self._take(caller)[1] >= 0

    def _take(self, caller: Caller) -> tuple[int, float]:
        """Count a request. Returns the limit that decides, and what is left of it: below zero if it was not within.

        What a key's own limit refuses is not counted against the account, of which others need the rest.
        """
        rate = self.rate_of(caller, self._limits_of(caller.account_id))
        if caller.rate is None or caller.rate >= rate:
            return rate, self.requests.take(caller.account_id, rate=rate)
        left_of_key = self.requests.take(caller.key_id, rate=caller.rate)
        left = self.requests.take(caller.account_id, rate=rate) if left_of_key >= 0 else 0.0
        return (caller.rate, left_of_key) if left >= 0 else (rate, left)

    def delay(self, caller: Caller) -> float:
        """Seconds until a request of the caller would be within its limits; 0 if it is now. Counts nothing."""
        rate = self.rate_of(caller, self._limits_of(caller.account_id))
        delay = (1.0 - self.requests.take(caller.account_id, 0.0, rate)) / rate
        if caller.rate is not None and caller.rate < rate:
            delay = max(delay, (1.0 - self.requests.take(caller.key_id, 0.0, caller.rate)) / caller.rate)
        return max(0.0, delay)

    def take_of_operator(self, request: CountedRequest, operator: Operator) -> None:
        """Count a request against its operator's own limit. Raises Problem rate_limited."""
        self._note(request, self._rate, self.requests.take(operator.actor, rate=self._rate))

    def take_of_session(self, request: CountedRequest, signed_in: SignedIn) -> None:
        """Count a request against the limits of its session and of its person. Raises Problem rate_limited.

        What a session is refused is not counted against the person, who can still use another session.
        """
        rate, left = self.of_sessions.rate, self.of_sessions.take(signed_in.session_id)
        if left >= 0:
            left_of_person = self.of_persons.take(signed_in.person_id)
            if left_of_person < 0:
                rate, left = self.of_persons.rate, left_of_person
        self._note(request, int(rate), left)

    def _note(self, request: CountedRequest, rate: int, left: float) -> None:
        request.rate_limit = (rate, max(0, int(left)))
        if left < 0:
            raise Problem(
                "rate_limited",
                f"The limit is {counted(rate, 'request')} per second.",
                headers={"Retry-After": str(self.requests.wait(left, rate))},
            )
