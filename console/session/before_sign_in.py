"""The API for people who are not signed in.

Only a few of these calls run at a time, so that strangers cannot hold up other people's pages.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from bulksms_client.errors import BulkSmsError
from bulksms_client.people import SignIn
from bulksms_client.wire import Wire
from flask import Flask, current_app, request

from console.session.call_limits import CallLimits, ConcurrentCalls, RefusedCalls
from console.session.current import forwarded

EXTENSION = "bulksms_before_sign_in"
MOST_CALLS = 4
"""Calls in progress: a quarter of the process's threads."""
MOST_CALLS_OF_ADDRESS = 2
MOST_OF_REFUSED, MOST_OF_REFUSED_ADDRESS = 2, 1
"""How many of these may come from addresses with many refusals, so that others always find room."""
TIMEOUT = 8.0
"""Seconds per try: longer than the API delays a refusal or waits for an OpenID Connect provider."""
METHODS_SECONDS, UNKNOWN_SECONDS = 30.0, 5.0
"""How long a response of `GET /sign-in/methods` is used, and how long it is not requested again after a failure."""
METHODS_TIMEOUT = 1.0
"""Seconds. The page shows what is known, or asks for a password, rather than wait for an API that does not respond."""

BY_PASSWORD: Mapping[str, Any] = {"password": True, "oidc": None}


class BeforeSignIn:
    """Connections to the API for calls without a session, and the limits on these calls.

    Calls that wait for an OpenID Connect provider have their own limits: a hanging provider must not hold up passwords.
    What a call may have used up, such as a link or a code, is not sent again: `Wire` knows these calls.
    """

    def __init__(self, url: str, refusals: RefusedCalls) -> None:
        self.wire = Wire(url, timeout=TIMEOUT, tries=2, longest_wait=0.2)
        self.bound = bound(refusals)
        self.oidc_wire = Wire(url, timeout=TIMEOUT, tries=1)
        self.oidc_bound = bound(refusals)
        self.methods_wire = Wire(url, timeout=METHODS_TIMEOUT, tries=1)
        self.methods: Mapping[str, Any] = BY_PASSWORD
        self.methods_until = 0.0
        """How people can sign in, and until when that is used."""

    def close(self) -> None:
        """Close the connections."""
        self.wire.close()
        self.oidc_wire.close()
        self.methods_wire.close()


def bound(refusals: RefusedCalls) -> CallLimits:
    """The limits on calls without a session."""
    return CallLimits(
        refusals,
        ConcurrentCalls(MOST_CALLS, MOST_CALLS_OF_ADDRESS),
        ConcurrentCalls(MOST_OF_REFUSED, MOST_OF_REFUSED_ADDRESS),
    )


def add_before_sign_in(app: Flask, api_url: str, refusals: RefusedCalls) -> None:
    """Give the application its own connections for people who are not signed in."""
    app.extensions[EXTENSION] = BeforeSignIn(api_url, refusals)


@contextmanager
def before_sign_in() -> Iterator[SignIn]:
    """The API for one call of this request. Raises ApiError 429 `rate_limited` if too many calls are in progress."""
    api = _api()
    with api.bound.call(request.remote_addr or ""):
        yield SignIn(api.wire, forwarded())


@contextmanager
def before_oidc_sign_in() -> Iterator[SignIn]:
    """The same, for one call that waits for the OpenID Connect provider."""
    api = _api()
    with api.oidc_bound.call(request.remote_addr or ""):
        yield SignIn(api.oidc_wire, forwarded())


def sign_in_methods() -> Mapping[str, Any]:
    """How people can sign in: `password`, and `oidc` with the provider's `name`. Else only `password`."""
    api = _api()
    if time.monotonic() > api.methods_until:
        api.methods_until = time.monotonic() + UNKNOWN_SECONDS  # so that one request at a time waits for the response
        with suppress(BulkSmsError), api.bound.call(request.remote_addr or ""):
            api.methods = SignIn(api.methods_wire, forwarded()).methods()
            api.methods_until = time.monotonic() + METHODS_SECONDS
    return api.methods


def _api() -> BeforeSignIn:
    found: BeforeSignIn = current_app.extensions[EXTENSION]
    return found
