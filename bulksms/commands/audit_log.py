"""`bulksms audit-log`."""

from collections.abc import Mapping
from typing import Any

import click

from bulksms.environment import database
from bulksms.output import json_option, show_json, show_lines
from shared.accounts import administration as accounts
from shared.accounts.audit_log import list_changes
from shared.ids import LAST_NUMBER


@click.command("audit-log")
@click.argument("account", required=False)
@click.option("--action", help="Only changes whose action begins with this: `key`, or `key.revoked`.")
@click.option("--actor", help="Only changes by this actor, such as `key smsk_live_…` or `operator key opk_…`.")
@click.option(
    "--before", type=click.IntRange(1, LAST_NUMBER), default=LAST_NUMBER, help="Only changes older than this id."
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def audit_log(
    account: str | None, action: str | None, actor: str | None, before: int, limit: int, as_json: bool
) -> None:
    """List changes of rights and money, newest first, for one account or all.

    A line has the change's id, time, account, action, subject, values before and after, actor and reason, as far as
    known. --json also has the request and its address.
    """
    with database() as connection:
        owner = accounts.find_account(connection, account) if account else None
        rows = list_changes(connection, account_id=owner, actor=actor, action=action, before=before, limit=limit)
    if as_json:
        show_json(rows)
    else:
        show_lines(map(_line, rows), "There are none.")


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the line of a change shows."""
    account = None if row["account_id"] is None else f"{row['account_id']} {row['account']}"
    reason = row["reason"] and f'"{row["reason"]}"'
    values = _values(row["before"] or {}, row["after"] or {})
    return {
        "id": str(row["id"]),
        "at": row["at"],
        "account": account,
        "action": row["action"],
        "subject": row["subject"],
        "values": values or None,
        "actor": f"by {row['actor']}",
        "reason": reason,
    }


def _values(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The changed values: `weight 1 -> 3`."""
    names = {**before, **after}
    return ", ".join(f"{name} {_value(before.get(name))} -> {_value(after.get(name))}" for name in names)


def _value(value: Any) -> str:
    return "-" if value is None else str(value)
