"""Accounts: list, create, change, suspend, activate and close them."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import need_scope, operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.idempotency import IdempotentResponse
from api.operator.accounts.schemas import (
    AccountChanges,
    AccountDetailsResponse,
    AccountResponse,
    AccountSearch,
    NewAccount,
)
from api.operator.audited_change import act, act_once, need_account, no_account
from api.operator.fields import WithOptionalReason, WithReason
from api.problems import Problem
from api.schemas.paging import page_of
from shared.accounts import administration, overview
from shared.accounts.audit_log import Actor
from shared.accounts.change_account import SETTINGS, change_account
from shared.accounts.verification_settings import settings_of
from shared.db.connection import reading
from shared.sends.requeue import reactivate


@operator_endpoint("GET", "/accounts", query=AccountSearch, response=page_of(AccountResponse), scope="read")
def list_accounts(caller: Operator, query: dict[str, Any]) -> Any:
    """List accounts by id, with their balance and today's traffic. Sandboxes are not listed."""
    after, limit = number_cursor(query.get("cursor"), 0), query["limit"]
    with reading_list(services().engine) as connection:
        rows = overview.list_accounts(
            connection, search=query.get("search"), state=query.get("status"), after=after, limit=limit + 1
        )
    return page(rows, limit, lambda row: str(row["id"]))


@operator_endpoint("GET", "/accounts/<int:account_id>", response=AccountDetailsResponse, scope="read")
def get_account(caller: Operator, account_id: int) -> Any:
    """Show one account: settings, balance, today's traffic, and how many keys, groups and open sends it has."""
    with reading(services().engine) as connection:
        return _account(connection, account_id)


@operator_endpoint(
    "POST", "/accounts", body=NewAccount, response=AccountDetailsResponse, errors=("name_taken",), scope="accounts"
)
def create_account(caller: Operator, body: dict[str, Any]) -> IdempotentResponse:
    """Create an account, without credits. Next, top it up, request and approve a sender ID, and create an API key.

    A credit limit needs the scope `money`.
    """
    _need_money(caller, body)

    def create(connection: Connection, by: Actor) -> Any:
        _check_name(connection, body["name"])
        account_id = administration.create_account(
            connection,
            body["name"],
            body["low_balance_threshold"],
            body["weight"],
            authentication=body["authentication"],
            by=by,
        )
        later = ("country", "retention_days", "credit_limit", "spend_threshold", "verification")
        settings = {name: body[name] for name in later if body.get(name) is not None}
        if settings:
            change_account(connection, account_id, settings, by=by)
        return _account(connection, account_id)

    return act_once(caller, body, create)


@operator_endpoint(
    "PATCH",
    "/accounts/<int:account_id>",
    body=AccountChanges,
    response=AccountDetailsResponse,
    errors=("name_taken",),
    scope="accounts",
)
def update_account(caller: Operator, account_id: int, body: dict[str, Any]) -> Any:
    """Change settings of an account. A changed credit limit needs the scope `money`.

    Country, low balance threshold, retention, `authentication` and `verification` also apply to its sandbox. An account
    that owes more than its credit limit sends nothing until it was topped up.
    """
    _need_money(caller, body)

    def change(connection: Connection, by: Actor) -> Any:
        need_account(connection, account_id)
        if "name" in body:
            _check_name(connection, body["name"], account_id)
        settings = {name: body[name] for name in SETTINGS if name in body}
        if settings:
            change_account(connection, account_id, settings, body.get("reason"), by=by)
        if "authentication" in body:
            administration.allow_authentication(connection, account_id, body["authentication"], by=by)
        return _account(connection, account_id)

    return act(caller, change)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/suspend", body=WithReason, response=AccountDetailsResponse, scope="accounts"
)
def suspend_account(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Suspend an account: it accepts nothing new, and its tokens stop working. Accepted sends continue."""
    return _set_state(caller, account_id, body, administration.suspend_account)


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/activate",
    body=WithOptionalReason,
    response=AccountDetailsResponse,
    scope="accounts",
)
def activate_account(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Activate a suspended or frozen account."""
    return _set_state(caller, account_id, body, reactivate)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/close", body=WithReason, response=AccountDetailsResponse, scope="accounts"
)
def close_account(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Close an account for good: it accepts nothing, and its keys are revoked. Refused while sends are open.

    Its history, its ledger and the credits that are left stay. It cannot be undone.
    """
    return _set_state(caller, account_id, body, administration.close_account)


def _set_state(
    caller: Operator, account_id: int, body: dict[str, Any], change: Callable[..., None]
) -> IdempotentResponse:
    def change_state(connection: Connection, by: Actor) -> Any:
        need_account(connection, account_id)
        change(connection, account_id, body.get("reason"), by=by)
        return _account(connection, account_id)

    return act_once(caller, body, change_state)


def _need_money(caller: Operator, body: dict[str, Any]) -> None:
    if "credit_limit" in body:
        need_scope(caller, "money")


def _account(connection: Connection, account_id: int) -> dict[str, Any]:
    account = overview.show_account(connection, account_id, live=True)
    if account is None:
        raise no_account(account_id)
    return {**account, "verification_settings": settings_of(account["verification"])}


def _check_name(connection: Connection, name: str, account_id: int | None = None) -> None:
    if overview.is_name_taken(connection, name, account_id):
        raise Problem("name_taken", f"The account {name!r} already exists.")
