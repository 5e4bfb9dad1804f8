"""`bulksms message`."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click
from sqlalchemy import Row, select, text

from bulksms.environment import database
from bulksms.output import json_option, show_rows
from shared.accounts import administration as accounts
from shared.accounts.administration import Refused
from shared.carriers.error_codes import error_of
from shared.db.expressions import in_parameter
from shared.db.tables import messages
from shared.db.timeouts import ALLOW_LONG_STATEMENTS
from shared.ids import first_id_at, message_id
from shared.plurals import counted
from shared.sms.phones import is_phone, suggest

FIND = text(
    """
    SELECT b.id AS batch_id, r.number, a.name AS account, s.id AS send_id, s.sender_id, b.state, s.state AS send_state,
           s.created_at
      FROM send s JOIN batch b ON b.send_id = s.id JOIN account a ON a.id = s.account_id
     CROSS JOIN LATERAL unnest(string_to_array(b.recipients, E'\\n')) WITH ORDINALITY AS r (phone, number)
     WHERE s.id >= :since AND (CAST(:account AS bigint) IS NULL OR s.account_id = :account)
       AND position(:phone IN b.recipients) > 0 AND r.phone = :phone
     ORDER BY s.id DESC, b.id, r.number LIMIT :limit
    """
)
"""Searches the recipients of whole batches, which have no index: `position` is a cheap first look at each."""
MESSAGES = messages.message.c
ROWS = select(
    *MESSAGES["id", "status", "carrier", "reference", "error", "attempts", "submitted_at", "finished_at"]
).where(in_parameter(MESSAGES.id, "ids"))
ENDED = ("canceled", "expired")


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
    since = first_id_at(datetime.now(UTC) - timedelta(days=days))
    with database() as connection:
        connection.execute(ALLOW_LONG_STATEMENTS)
        owner = accounts.find_account(connection, account) if account else None
        parameters = {"phone": phone, "since": since, "account": owner, "limit": limit}
        recipients = connection.execute(FIND, parameters).all()
        ids = [message_id(row.batch_id, row.number) for row in recipients]
        rows = {row.id: row for row in connection.execute(ROWS, {"ids": ids})}
    empty = f"No message to {phone} was accepted in the last {counted(days, 'day')}. Use --days to look further back."
    shown = [_shown(recipient, rows.get(each)) for recipient, each in zip(recipients, ids, strict=True)]
    show_rows(shown, as_json, "Messages", empty)


def _shown(recipient: Row[Any], row: Row[Any] | None) -> dict[str, Any]:
    """A message as shown to the operator. Without a row of its own it has the status of its batch or send."""
    status = row.status if row is not None else recipient.state if recipient.state in ENDED else recipient.send_state
    error = error_of(row.status, row.error, row.carrier) if row is not None else None
    return {
        "message_id": message_id(recipient.batch_id, recipient.number),
        "account": recipient.account,
        "send_id": recipient.send_id,
        "sender_id": recipient.sender_id,
        "status": status,
        "error": error and error["code"],
        "carrier": row and row.carrier,
        "carrier_code": error and error["carrier_code"],
        "reference": row and row.reference,
        "accepted": recipient.created_at,
        "submitted": row.submitted_at if row is not None and row.attempts else None,
        "finished": row and row.finished_at,
    }
