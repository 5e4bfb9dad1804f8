"""Accounts: list, create, change, suspend, activate and close them."""

from typing import Any

from sqlalchemy import Connection

from api.act_once import no_account
from api.auth.operator_tokens import Operator
from api.endpoint import need_scope, operator_endpoint
from api.operator.accounts.schemas import (
    AccountChanges,
    AccountDetailsResponse,
    AccountResponse,
    AccountSearch,
    NewAccount,
)
from api.operator.fields import WithOptionalReason, WithReason
from api.schemas.paging import by_number
from shared.accounts import administration, overview
from shared.accounts.audit_log import Actor
from shared.accounts.change_account import SETTINGS, change_account
from shared.accounts.verification_settings import settings_of
from shared.sends.requeue import reactivate


@operator_endpoint("GET", "/accounts", query=AccountSearch, pages=by_number(AccountResponse), scope="read")
def list_accounts(connection: Connection, query: dict[str, Any], after: int, limit: int) -> Any:
    """List accounts by id, with their balance and today's traffic. Sandboxes are not listed."""
    search, state = query.get("search"), query.get("status")
    return overview.list_accounts(connection, search=search, state=state, after=after, limit=limit)


@operator_endpoint("GET", "/accounts/<int:account_id>", response=AccountDetailsResponse, scope="read")
def get_account(connection: Connection, account_id: int) -> Any:
    """Show one account: settings, balance, today's traffic, and how many keys, groups and open sends it has."""
    return _account(connection, account_id)


@operator_endpoint(
    "POST", "/accounts", body=NewAccount, response=AccountDetailsResponse, errors=("name_taken",), scope="accounts"
)
def create_account(caller: Operator, connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Create an account, without credits. Next, top it up, request and approve a sender ID, and create an API key.

    A credit limit needs the scope `money`.
    """
    _need_money(caller, body)
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


@operator_endpoint(
    "PATCH",
    "/accounts/<int:account_id>",
    body=AccountChanges,
    response=AccountDetailsResponse,
    errors=("name_taken",),
    scope="accounts",
)
def update_account(caller: Operator, connection: Connection, by: Actor, account_id: int, body: dict[str, Any]) -> Any:
    """Change settings of an account. A changed credit limit needs the scope `money`.

    Country, low balance threshold, retention, `authentication` and `verification` also apply to its sandbox. An account
    that owes more than its credit limit sends nothing until it was topped up.
    """
    _need_money(caller, body)
    settings = {name: body[name] for name in SETTINGS if name in body}
    if settings:
        change_account(connection, account_id, settings, body.get("reason"), by=by)
    if "authentication" in body:
        administration.allow_authentication(connection, account_id, body["authentication"], body.get("reason"), by=by)
    return _account(connection, account_id)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/suspend", body=WithReason, response=AccountDetailsResponse, scope="accounts"
)
def suspend_account(connection: Connection, by: Actor, account_id: int, body: dict[str, Any]) -> Any:
    """Suspend an account: it accepts nothing new, and its tokens stop working. Accepted sends continue."""
    administration.suspend_account(connection, account_id, body["reason"], by=by)
    return _account(connection, account_id)


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/activate",
    body=WithOptionalReason,
    response=AccountDetailsResponse,
    scope="accounts",
)
def activate_account(connection: Connection, by: Actor, account_id: int, body: dict[str, Any]) -> Any:
    """Activate a suspended or frozen account."""
    reactivate(connection, account_id, body.get("reason"), by=by)
    return _account(connection, account_id)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/close", body=WithReason, response=AccountDetailsResponse, scope="accounts"
)
def close_account(connection: Connection, by: Actor, account_id: int, body: dict[str, Any]) -> Any:
    """Close an account for good: it accepts nothing, and its keys are revoked. Refused while sends are open.

    Its history, its ledger and the credits that are left stay. It cannot be undone.
    """
    administration.close_account(connection, account_id, body["reason"], by=by)
    return _account(connection, account_id)


def _need_money(caller: Operator, body: dict[str, Any]) -> None:
    if "credit_limit" in body:
        need_scope(caller, "money")


def _account(connection: Connection, account_id: int) -> dict[str, Any]:
    account = overview.show_account(connection, account_id, live=True)
    if account is None:
        raise no_account(account_id)
    return {**account, "verification_settings": settings_of(account["verification"])}
