"""`bulksms inbound`."""

from uuid import UUID

import click
from sqlalchemy import text

from bulksms.commands.common import database, json_option, messages, show_rows
from shared.db.encryption_keys import texts_of

LIST = text(
    """
    SELECT id, carrier, phone, sender_id AS sent_to, message, missing AS missing_segments, received_at FROM inbound
     WHERE account_id IS NULL AND (CAST(:sent_to AS text) IS NULL OR lower(sender_id) = lower(:sent_to))
       AND (CAST(:before AS uuid) IS NULL OR id < :before)
     ORDER BY id DESC LIMIT :limit
    """
)

NUMBERS = text(
    """
    SELECT sender_id AS sent_to, carrier, count(*) AS messages, count(DISTINCT phone) AS phones,
           max(received_at) AS newest
      FROM inbound WHERE account_id IS NULL GROUP BY sender_id, carrier ORDER BY count(*) DESC, sender_id LIMIT :limit
    """
)


@click.group()
def inbound() -> None:
    """Show inbound messages to numbers that belong to no account.

    Once an account has the number as an approved sender ID, new messages are the account's; older ones stay here.
    """


@inbound.command("list")
@click.option("--to", "sent_to", help="Only messages to this number.")
@click.option("--before", type=click.UUID, help="Only messages older than this id: the last of the previous page.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def list_inbound(sent_to: str | None, before: UUID | None, limit: int, as_json: bool) -> None:
    """List messages, newest first."""
    with database() as connection:
        texts = texts_of(connection)
        stored = connection.execute(LIST, {"sent_to": sent_to, "before": before, "limit": limit}).mappings()
        rows = [{**row, "message": texts.open(row["message"], row["id"])} for row in stored]
    show_rows(rows, as_json, "Messages to unassigned numbers", "None.")


@inbound.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def numbers(limit: int, as_json: bool) -> None:
    """Count messages by the number they were sent to."""
    with database() as connection:
        rows = connection.execute(NUMBERS, {"limit": limit}).mappings().all()
    show_rows(rows, as_json, "Unassigned numbers", "None.")
    if rows and not as_json:
        messages().print("Give one to an account: bulksms sender request ACCOUNT NUMBER, then bulksms sender approve.")
