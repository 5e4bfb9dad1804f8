"""The API for people who are not signed in."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bulksms_client.errors import BulkSmsError
from bulksms_client.people import SignIn

from console.session.current import api, forwarded

METHODS_SECONDS, UNKNOWN_SECONDS = 30.0, 5.0
"""How long a response of `GET /sign-in/methods` is used, and how long it is not requested again after a failure."""


def before_sign_in() -> SignIn:
    """The API for this request. What a call may have used up, such as a link or a code, is not sent again."""
    return SignIn(api().sign_in_wire, forwarded())


def sign_in_methods() -> Mapping[str, Any]:
    """How people can sign in: `password`, and `oidc` with the provider's `name`. Else only `password`."""
    kept = api()
    if time.monotonic() > kept.methods_until:
        kept.methods_until = time.monotonic() + UNKNOWN_SECONDS  # so that one request at a time waits for the response
        with suppress(BulkSmsError):
            kept.methods = SignIn(kept.methods_wire, forwarded()).methods()
            kept.methods_until = time.monotonic() + METHODS_SECONDS
    return kept.methods
