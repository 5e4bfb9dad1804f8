"""How customers change things: once per Idempotency-Key, in one transaction."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from api.auth.caller import Caller
from api.commit.draft import encode
from api.endpoint import key_of_request, services
from api.http.request import current_request
from api.idempotency import IdempotentResponse, once


def act_once(caller: Caller, body: dict[str, Any] | None, act: Callable[[Connection], Any]) -> IdempotentResponse:
    """Call `act` once per Idempotency-Key, in a transaction. What it returns is stored as the response shows it."""
    key = key_of_request(caller, body)
    with services().engine.begin() as connection:
        return once(connection, key, lambda: encode(current_request().show(act(connection))))
