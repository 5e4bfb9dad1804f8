"""Limits and rules of accounts, and findings of the pumping guard."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.operator.audited_change import act, need_account
from api.operator.fields import AccountPaging
from api.operator.limits.schemas import (
    AccountLimitsResponse,
    FindingResponse,
    LimitChanges,
    RuleChanges,
    RuleResponse,
)
from api.problems import Problem
from api.schemas.paging import list_of, page_of
from shared.accounts.audit_log import Actor
from shared.accounts.category_rules import list_rules, set_cap, set_quiet_hours
from shared.accounts.limits import limits_of, pumping_findings, set_limits
from shared.db.connection import reading
from shared.ids import LAST_NUMBER
from shared.ledger.spend_limits import standings
from shared.sends.quiet_hours import clock

CATEGORIES = ("transactional", "marketing")


@operator_endpoint("GET", "/accounts/<int:account_id>/limits", response=AccountLimitsResponse, scope="read")
def get_account_limits(caller: Operator, account_id: int) -> Any:
    """Show an account's own limits, and what it has spent of them."""
    with reading(services().engine) as connection:
        need_account(connection, account_id)
        return _limits(connection, account_id)


@operator_endpoint(
    "PATCH", "/accounts/<int:account_id>/limits", body=LimitChanges, response=AccountLimitsResponse, scope="accounts"
)
def update_account_limits(caller: Operator, account_id: int, body: dict[str, Any]) -> Any:
    """Change the given limits of an account and its sandbox; null removes one. The API follows within two seconds."""
    changes = {name: value for name, value in body.items() if name != "reason"}

    def change(connection: Connection, by: Actor) -> Any:
        need_account(connection, account_id)
        set_limits(connection, account_id, reason=body.get("reason"), by=by, **changes)
        return _limits(connection, account_id)

    return act(caller, change)


@operator_endpoint("GET", "/accounts/<int:account_id>/rules", response=list_of(RuleResponse), scope="read")
def get_account_rules(caller: Operator, account_id: int) -> Any:
    """Show an account's rules by category: quiet hours, and caps per phone number."""
    with reading(services().engine) as connection:
        need_account(connection, account_id)
        return {"data": [_rule(connection, account_id, category) for category in CATEGORIES]}


@operator_endpoint(
    "PATCH", "/accounts/<int:account_id>/rules/<category>", body=RuleChanges, response=RuleResponse, scope="accounts"
)
def update_account_rules(caller: Operator, account_id: int, category: str, body: dict[str, Any]) -> Any:
    """Change the rules of a category, `transactional` or `marketing`. Sends that are accepted already keep theirs."""
    if category not in CATEGORIES:
        raise Problem("not_found", f"Rules are for the categories {' and '.join(CATEGORIES)}.")

    def change(connection: Connection, by: Actor) -> Any:
        need_account(connection, account_id)
        if "quiet_hours" in body:
            hours = body["quiet_hours"]
            pair = None if hours is None else (hours["quiet_from"], hours["quiet_until"])
            set_quiet_hours(connection, account_id, category, pair, by=by)
        if "cap" in body:
            cap = body["cap"]
            pair = None if cap is None else (cap["messages"], cap["hours"])
            set_cap(connection, account_id, category, pair, by=by)
        return _rule(connection, account_id, category)

    return act(caller, change)


@operator_endpoint("GET", "/pumping-findings", query=AccountPaging, response=page_of(FindingResponse), scope="read")
def list_pumping_findings(caller: Operator, query: dict[str, Any]) -> Any:
    """List what the pumping guard has found, newest first."""
    before, limit = number_cursor(query.get("cursor"), LAST_NUMBER), query["limit"]
    with reading_list(services().engine) as connection:
        rows = pumping_findings(connection, account_id=query.get("account_id"), before=before, limit=limit + 1)
    return page(rows, limit, lambda row: str(row["id"]))


def _limits(connection: Connection, account_id: int) -> dict[str, Any]:
    spent = {f"spent_of_{period}": standing.credits for period, standing in standings(connection, account_id).items()}
    return {"spent_of_day": None, "spent_of_month": None, **asdict(limits_of(connection, account_id)), **spent}


def _rule(connection: Connection, account_id: int, category: str) -> dict[str, Any]:
    row = next((each for each in list_rules(connection, account_id) if each.category == category), None)
    quiet = row is not None and row.quiet_from is not None
    capped = row is not None and row.cap_messages is not None
    return {
        "category": category,
        "quiet_hours": {"from": clock(row.quiet_from), "until": clock(row.quiet_until)} if row and quiet else None,
        "cap": {"messages": row.cap_messages, "hours": row.cap_hours} if row and capped else None,
    }
