"""The API for people who are not signed in."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bulksms_client.errors import BulkSmsError
from bulksms_client.people import SignIn
from bulksms_client.wire import Wire
from flask import Flask, current_app

from console.session.current import forwarded

EXTENSION = "bulksms_before_sign_in"
TIMEOUT = 8.0
"""Seconds per try: longer than the API waits for an OpenID Connect provider."""
METHODS_SECONDS, UNKNOWN_SECONDS = 30.0, 5.0
"""How long a response of `GET /sign-in/methods` is used, and how long it is not requested again after a failure."""
METHODS_TIMEOUT = 1.0
"""Seconds. The page shows what is known, or asks for a password, rather than wait for an API that does not respond."""

BY_PASSWORD: Mapping[str, Any] = {"password": True, "oidc": None}


class BeforeSignIn:
    """Connections to the API for calls without a session.

    What a call may have used up, such as a link or a code, is not sent again: `Wire` knows these calls.
    """

    def __init__(self, url: str) -> None:
        self.wire = Wire(url, timeout=TIMEOUT, tries=2, longest_wait=0.2)
        self.oidc_wire = Wire(url, timeout=TIMEOUT, tries=1)
        self.methods_wire = Wire(url, timeout=METHODS_TIMEOUT, tries=1)
        self.methods: Mapping[str, Any] = BY_PASSWORD
        self.methods_until = 0.0
        """How people can sign in, and until when that is used."""

    def close(self) -> None:
        """Close the connections."""
        self.wire.close()
        self.oidc_wire.close()
        self.methods_wire.close()


def add_before_sign_in(app: Flask, api_url: str) -> None:
    """Give the application its own connections for people who are not signed in."""
    app.extensions[EXTENSION] = BeforeSignIn(api_url)


def before_sign_in() -> SignIn:
    """The API for this request."""
    return SignIn(_api().wire, forwarded())


def before_oidc_sign_in() -> SignIn:
    """The same, for calls that wait for the OpenID Connect provider."""
    return SignIn(_api().oidc_wire, forwarded())


def sign_in_methods() -> Mapping[str, Any]:
    """How people can sign in: `password`, and `oidc` with the provider's `name`. Else only `password`."""
    api = _api()
    if time.monotonic() > api.methods_until:
        api.methods_until = time.monotonic() + UNKNOWN_SECONDS  # so that one request at a time waits for the response
        with suppress(BulkSmsError):
            api.methods = SignIn(api.methods_wire, forwarded()).methods()
            api.methods_until = time.monotonic() + METHODS_SECONDS
    return api.methods


def _api() -> BeforeSignIn:
    found: BeforeSignIn = current_app.extensions[EXTENSION]
    return found
