"""`bulksms message`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click
from sqlalchemy import select

from bulksms.environment import database
from bulksms.output import json_option, show_rows
from shared.accounts import administration as accounts
from shared.accounts.administration import Refused
from shared.carriers.error_codes import error_of
from shared.db.expressions import in_parameter
from shared.db.tables.accounts import account as accounts_table
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.messages.history import MessageRow
from shared.messages.search import find_messages
from shared.plurals import counted
from shared.sms.phones import is_phone, suggest

NAMES = select(accounts_table.c.id, accounts_table.c.name).where(in_parameter(accounts_table.c.id, "accounts"))


@click.group()
def message() -> None:
    """Find messages and see what became of them."""


@message.command()
@click.argument("phone")
@click.option("--account", help="Only this account, by id or name.")
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=7,
    show_default=True,
    help="Only messages accepted in the last DAYS.",
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def find(phone: str, account: str | None, days: int, limit: int, as_json: bool) -> None:
    """List messages to a phone number from all accounts, newest first.

    Reads everything accepted in these days: a few seconds per million recipients.
    """
    if not is_phone(phone):
        suggestion = suggest(phone)
        raise Refused(
            f"{phone!r} is not a phone number: give digits only."
            + (f" Did you mean {suggestion}?" if suggestion else "")
        )
    query: dict[str, Any] = {"phone": phone, "since": datetime.now(UTC) - timedelta(days=days)}
    found: list[MessageRow] = []
    with database() as connection:
        connection.execute(ALLOW_LONG_STATEMENTS)
        owner = accounts.find_account(connection, account) if account else None
        while True:
            page = find_messages(connection, owner, {**query, "limit": limit - len(found)})
            found += page.messages
            if page.end is None or len(found) == limit:
                break
            query["position"] = page.end
        rows = connection.execute(NAMES, {"accounts": [row.account_id for row in found]})
        names = {row.id: row.name for row in rows}
    empty = f"No message to {phone} was accepted in the last {counted(days, 'day')}. Use --days to look further back."
    show_rows((_shown(row, names[row.account_id]) for row in found), as_json, "Messages", empty)


def _shown(row: MessageRow, account: str) -> dict[str, Any]:
    error = error_of(row.status, row.error, row.carrier)
    return {
        "message_id": row.id,
        "account": account,
        "send_id": row.send_id,
        "sender_id": row.sender_id,
        "status": row.status,
        "error": error and error["code"],
        "carrier": row.carrier,
        "carrier_code": error and error["carrier_code"],
        "reference": row.carrier_reference,
        "accepted": row.created_at,
        "submitted": row.submitted_at if row.attempts else None,
        "finished": row.finished_at,
    }
