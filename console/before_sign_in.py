"""The API for people who are not signed in.

The API answers repeated refusals late, and every call keeps one of the console's threads until its answer. Only a few
of these calls are under way at a time, so that strangers cannot hold up the pages of others.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from bulksms_client.errors import ApiError
from bulksms_client.people import SignIn
from bulksms_client.wire import Wire
from flask import Flask, current_app, request

from console.current import forwarded

EXTENSION = "bulksms_before_sign_in"
MOST_CALLS = 4
"""Calls under way, a quarter of the process's threads."""
MOST_CALLS_OF_ADDRESS = 2
TIMEOUT = 8.0
"""Seconds for one try: more than the API delays a refusal."""


class Bound:
    """Counts calls that are under way, of all addresses and of each."""

    def __init__(self, most: int = MOST_CALLS, most_of_address: int = MOST_CALLS_OF_ADDRESS) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()

    @contextmanager
    def call(self, address: str) -> Iterator[None]:
        """Be under way. Raises ApiError 429 `rate_limited` at once when there are too many."""
        with self._lock:
            if self._calls.total() >= self._most or self._calls[address] >= self._most_of_address:
                raise ApiError(429, {"code": "rate_limited"})
            self._calls[address] += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls[address] -= 1
                self._calls += Counter()  # forgets addresses without calls


class BeforeSignIn:
    """Connections to the API for calls without a session, and the bound of these calls."""

    def __init__(self, url: str) -> None:
        self.wire = Wire(url, timeout=TIMEOUT, tries=2, longest_wait=0.2)
        self.bound = Bound()


def add_before_sign_in(app: Flask, api_url: str) -> None:
    """Give the application its own connections for people who are not signed in."""
    app.extensions[EXTENSION] = BeforeSignIn(api_url)


@contextmanager
def before_sign_in() -> Iterator[SignIn]:
    """The API for one call of this request. Raises ApiError 429 `rate_limited` at once when too many are under way."""
    api: BeforeSignIn = current_app.extensions[EXTENSION]
    with api.bound.call(request.remote_addr or ""):
        yield SignIn(api.wire, forwarded())
