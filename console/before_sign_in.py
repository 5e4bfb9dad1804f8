"""The API for people who are not signed in.

Only a few of these calls are under way at a time, so that strangers cannot hold up the pages of others.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from bulksms_client.people import SignIn
from bulksms_client.wire import Wire
from flask import Flask, current_app, request

from console.crowds import Bound, Places, Refusals
from console.current import forwarded

EXTENSION = "bulksms_before_sign_in"
MOST_CALLS = 4
"""Calls under way, a quarter of the process's threads."""
MOST_CALLS_OF_ADDRESS = 2
MOST_OF_REFUSED, MOST_OF_REFUSED_ADDRESS = 2, 1
"""Of these, calls of addresses with many refusals: others always find a place beside them."""
TIMEOUT = 8.0
"""Seconds for one try: more than the API delays a refusal."""


class BeforeSignIn:
    """Connections to the API for calls without a session, and the bound of these calls."""

    def __init__(self, url: str, refusals: Refusals) -> None:
        self.wire = Wire(url, timeout=TIMEOUT, tries=2, longest_wait=0.2)
        self.bound = bound(refusals)


def bound(refusals: Refusals) -> Bound:
    """The bound of calls without a session."""
    return Bound(refusals, Places(MOST_CALLS, MOST_CALLS_OF_ADDRESS), Places(MOST_OF_REFUSED, MOST_OF_REFUSED_ADDRESS))


def add_before_sign_in(app: Flask, api_url: str, refusals: Refusals) -> None:
    """Give the application its own connections for people who are not signed in."""
    app.extensions[EXTENSION] = BeforeSignIn(api_url, refusals)


@contextmanager
def before_sign_in() -> Iterator[SignIn]:
    """The API for one call of this request. Raises ApiError 429 `rate_limited` at once when too many are under way."""
    api: BeforeSignIn = current_app.extensions[EXTENSION]
    with api.bound.call(request.remote_addr or ""):
        yield SignIn(api.wire, forwarded())
