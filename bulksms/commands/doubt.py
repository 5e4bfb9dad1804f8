"""`bulksms doubt`."""

from uuid import UUID

import click
from sqlalchemy import text

from bulksms.commands.common import database, done, json_option, show_rows
from shared.accounts import Refused
from shared.lifecycle import MessageStatus
from worker.doubt import Resolution, resolve

LIST = text(
    """
    SELECT message_id, carrier, sender_id, CAST(phone AS text) AS phone, submitted_at, expires_at FROM doubt
     ORDER BY submitted_at LIMIT :limit
    """
)
STATUS = text("SELECT status FROM message WHERE id = :id")

NOT_SENT = "not_sent"
"""The error of a message of which the operator knows that the carrier never had it."""


@click.group()
def doubt() -> None:
    """Messages in doubt: after a crash nobody knows whether the carrier has them. They are never sent again."""


@doubt.command("list")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@json_option
def list_doubts(limit: int, as_json: bool) -> None:
    """Show the messages in doubt, oldest first."""
    with database() as connection:
        rows = connection.execute(LIST, {"limit": limit}).mappings().all()
    show_rows(rows, as_json, "Messages in doubt", "No message is in doubt.")


@doubt.command("resolve")
@click.argument("message_id", type=click.UUID)
@click.argument("outcome", type=click.Choice(["sent", "not-sent"]))
def resolve_doubt(message_id: UUID, outcome: str) -> None:
    """Settle a doubt by what the carrier says: `sent` charges the message, `not-sent` gives its credits back."""
    sent = outcome == "sent"
    status, error = (MessageStatus.SENT, None) if sent else (MessageStatus.FAILED, NOT_SENT)
    with database() as connection:
        if not resolve(connection, [Resolution(message_id, status, error=error)]):
            known = connection.execute(STATUS, {"id": message_id}).scalar()
            what = f"is {known}" if known else "has no result yet, or does not exist"
            raise Refused(f"Message {message_id} {what}. `bulksms doubt list` shows those in doubt.")
    done("Charged as sent." if sent else "Its credits are given back.")
