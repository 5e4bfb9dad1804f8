"""How callers change things: once per Idempotency-Key, in one transaction."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from api.auth.caller import Caller
from api.auth.operator_tokens import Operator
from api.auth.still_valid import lock_operator
from api.commit.draft import encode
from api.endpoint import key_of_request, services
from api.http.request import current_request
from api.idempotency import IdempotentResponse, once
from api.problems import Problem
from shared.accounts.overview import is_live_account


def act_once(
    caller: Caller | Operator, body: dict[str, Any] | None, act: Callable[[Connection], Any]
) -> IdempotentResponse:
    """Call `act` once per Idempotency-Key, in a transaction. What it returns is stored as the response shows it.

    `body` is the content of the request, which must be the same when it is repeated.
    """
    key = key_of_request(caller, body)
    with transaction_of(caller) as connection:
        return once(connection, key, lambda: encode(current_request().show(act(connection))))


def act_once_with_secret(
    caller: Caller | Operator, body: dict[str, Any] | None, name: str, act: Callable[[Connection], tuple[Any, str]]
) -> IdempotentResponse:
    """Like `act_once`, but `act` also returns a secret. Only the first response has it, as `name`. It is not stored."""
    secret: dict[str, str] = {}

    def act_and_keep(connection: Connection) -> Any:
        result, secret[name] = act(connection)
        return result

    answered = act_once(caller, body, act_and_keep)
    return IdempotentResponse(encode(json.loads(answered.body) | secret), answered.replayed)


@contextmanager
def transaction_of(caller: Caller | Operator | None) -> Iterator[Connection]:
    """A transaction of a caller; that of an operator ensures that they may still act."""
    with services().engine.begin() as connection:
        if isinstance(caller, Operator):
            lock_operator(connection, caller)
        yield connection
    if isinstance(caller, Operator):
        services().tokens.reload()


def need_account(connection: Connection, account_id: int) -> None:
    """Raise Problem not_found unless there is a live account with this id."""
    if not is_live_account(connection, account_id):
        raise no_account(account_id)


def no_account(account_id: int) -> Problem:
    """The 404 for an account."""
    return Problem("not_found", f"There is no account {account_id}. List them with GET /operator/v1/accounts.")
