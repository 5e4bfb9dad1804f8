"""Limits on API calls that a crowd could otherwise use to tie up the console's threads.

The API delays responses to an address that it keeps refusing, and each call holds a thread until its response.
So few calls of people who are not signed in run at a time, and fewer still from addresses with many refusals.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network

from bulksms_client.errors import ApiError

MANY_REFUSALS = 5.0
"""From this many recent refusals, an address counts as one with many. The API delays from the eleventh on."""
SECONDS_EACH = 12.0
"""Seconds after which a refusal is forgotten."""
MOST_ADDRESSES = 10_000
PREFIX_OF_ONE = 64
"""Leading bits of an IPv6 address, which its client cannot choose."""


class RefusedCalls:
    """Counts what the API has lately refused to each address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counted: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def note(self, address: str) -> None:
        """Count a refusal."""
        with self._lock:
            self._counted[address] = (min(self._recent(address), 2 * MANY_REFUSALS) + 1.0, self._clock())
            self._counted.move_to_end(address)
            while len(self._counted) > MOST_ADDRESSES:
                self._counted.popitem(last=False)

    def has_many(self, address: str) -> bool:
        """Whether the API may delay its responses to the address."""
        with self._lock:
            return self._recent(address) >= MANY_REFUSALS

    def _recent(self, address: str) -> float:
        count, at = self._counted.get(address, (0.0, 0.0))
        return max(0.0, count - (self._clock() - at) / SECONDS_EACH)


class ConcurrentCalls:
    """Limits the calls in progress, in total and per address."""

    def __init__(self, most: int, most_of_address: int) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._calls: Counter[str] = Counter()

    def has_room(self, address: str) -> bool:
        """Whether the address may start another call."""
        return self._calls.total() < self._most and self._calls[address] < self._most_of_address

    def begin(self, address: str) -> None:
        """Count a call that begins."""
        self._calls[address] += 1

    def end(self, address: str) -> None:
        """Count a call that has ended."""
        self._calls[address] -= 1
        self._calls += Counter()  # forgets addresses without calls


class CallLimits:
    """Limits calls in progress: those of everybody, and those of addresses with many refusals."""

    def __init__(self, refusals: RefusedCalls, everybody: ConcurrentCalls, refused: ConcurrentCalls) -> None:
        self._refusals = refusals
        self._everybody = everybody
        self._refused = refused
        self._lock = threading.Lock()

    @contextmanager
    def call(self, address: str) -> Iterator[None]:
        """Count a call for the length of the block. Raises ApiError 429 `rate_limited` if there are too many."""
        client = client_of(address)
        concurrent = [self._everybody, *([self._refused] if self._refusals.has_many(client) else [])]
        with self._lock:
            if not all(each.has_room(client) for each in concurrent):
                raise ApiError(429, {"code": "rate_limited"})
            for each in concurrent:
                each.begin(client)
        try:
            yield
        except ApiError as error:
            if 400 <= error.status < 500 and error.code != "code_required":
                self._refusals.note(client)
            raise
        finally:
            with self._lock:
                for each in concurrent:
                    each.end(client)


def client_of(address: str) -> str:
    """The address, or the block of IPv6 addresses that one client has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, PREFIX_OF_ONE), strict=False))
