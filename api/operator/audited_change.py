"""How operators change things: once per Idempotency-Key, in one transaction, and with their name in the audit log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from api.actor import by_caller
from api.auth.operator_tokens import Operator
from api.auth.still_valid import lock_operator
from api.commit.draft import encode
from api.endpoint import key_of_request, services
from api.http.request import current_request
from api.idempotency import IdempotentResponse, once
from api.problems import Problem
from shared.accounts.audit_log import Actor
from shared.accounts.overview import is_live_account


def act_once(
    operator: Operator, request: dict[str, Any] | None, change: Callable[[Connection, Actor], Any]
) -> IdempotentResponse:
    """Call `change` once per Idempotency-Key, in a transaction. What it returns is stored as the response shows it.

    `request` is the content of the request, which must be the same when it is repeated.
    """
    key = key_of_request(operator, request)
    by = by_caller(operator)
    with operator_transaction(operator) as connection:
        return once(connection, key, lambda: encode(current_request().show(change(connection, by))))


def act(operator: Operator, change: Callable[[Connection, Actor], Any]) -> Any:
    """Call `change` in a transaction, for a request that may be repeated without harm."""
    by = by_caller(operator)
    with operator_transaction(operator) as connection:
        return change(connection, by)


@contextmanager
def operator_transaction(operator: Operator) -> Iterator[Connection]:
    """A transaction of an operator who may still act."""
    with services().engine.begin() as connection:
        lock_operator(connection, operator)
        yield connection
    services().tokens.reload()


def need_account(connection: Connection, account_id: int) -> None:
    """Raise Problem not_found unless there is a live account with this id."""
    if not is_live_account(connection, account_id):
        raise no_account(account_id)


def no_account(account_id: int) -> Problem:
    """The 404 for an account."""
    return Problem("not_found", f"There is no account {account_id}. List them with GET /operator/v1/accounts.")
