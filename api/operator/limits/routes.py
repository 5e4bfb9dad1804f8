"""Limits and rules of accounts, and findings of the pumping guard."""

from typing import Any

from sqlalchemy import Connection

from api.endpoint import operator_endpoint
from api.operator.fields import AccountPaging
from api.operator.limits.schemas import (
    AccountLimitsResponse,
    FindingResponse,
    LimitChanges,
    RuleChanges,
    RuleResponse,
)
from api.problems import Problem
from api.schemas.paging import list_of, newest_number
from shared.accounts.audit_log import Actor
from shared.accounts.category_rules import list_rules, set_cap, set_quiet_hours
from shared.accounts.limits import limits_with_spending, pumping_findings, set_limits
from shared.sends.quiet_hours import clock

CATEGORIES = ("transactional", "marketing")


@operator_endpoint("GET", "/accounts/<int:account_id>/limits", response=AccountLimitsResponse, scope="read")
def get_account_limits(connection: Connection, account_id: int) -> Any:
    """Show an account's own limits, and what it has spent of them."""
    return limits_with_spending(connection, account_id)


@operator_endpoint(
    "PATCH", "/accounts/<int:account_id>/limits", body=LimitChanges, response=AccountLimitsResponse, scope="accounts"
)
def update_account_limits(connection: Connection, by: Actor, account_id: int, body: dict[str, Any]) -> Any:
    """Change the given limits of an account and its sandbox; null removes one. The API follows within two seconds."""
    set_limits(connection, account_id, by=by, **body)
    return limits_with_spending(connection, account_id)


@operator_endpoint("GET", "/accounts/<int:account_id>/rules", response=list_of(RuleResponse), scope="read")
def get_account_rules(connection: Connection, account_id: int) -> Any:
    """Show an account's rules by category: quiet hours, and caps per phone number."""
    return {"data": [_rule(connection, account_id, category) for category in CATEGORIES]}


@operator_endpoint(
    "PATCH", "/accounts/<int:account_id>/rules/<category>", body=RuleChanges, response=RuleResponse, scope="accounts"
)
def update_account_rules(
    connection: Connection, by: Actor, account_id: int, category: str, body: dict[str, Any]
) -> Any:
    """Change the rules of a category, `transactional` or `marketing`. Sends that are accepted already keep theirs."""
    if category not in CATEGORIES:
        raise Problem("not_found", f"Rules are for the categories {' and '.join(CATEGORIES)}.")
    if "quiet_hours" in body:
        hours = body["quiet_hours"]
        pair = None if hours is None else (hours["quiet_from"], hours["quiet_until"])
        set_quiet_hours(connection, account_id, category, pair, by=by)
    if "cap" in body:
        cap = body["cap"]
        pair = None if cap is None else (cap["messages"], cap["hours"])
        set_cap(connection, account_id, category, pair, by=by)
    return _rule(connection, account_id, category)


@operator_endpoint(
    "GET",
    "/pumping-findings",
    query=AccountPaging,
    pages=newest_number(FindingResponse),
    scope="read",
)
def list_pumping_findings(connection: Connection, query: dict[str, Any], before: int, limit: int) -> Any:
    """List what the pumping guard has found, newest first."""
    return pumping_findings(connection, account_id=query.get("account_id"), before=before, limit=limit)


def _rule(connection: Connection, account_id: int, category: str) -> dict[str, Any]:
    row = next((each for each in list_rules(connection, account_id) if each.category == category), None)
    quiet = row is not None and row.quiet_from is not None
    capped = row is not None and row.cap_messages is not None
    return {
        "category": category,
        "quiet_hours": {"from": clock(row.quiet_from), "until": clock(row.quiet_until)} if row and quiet else None,
        "cap": {"messages": row.cap_messages, "hours": row.cap_hours} if row and capped else None,
    }
