"""`bulksms inbound`."""

from uuid import UUID

import click

from bulksms.environment import database, engine_of, installation
from bulksms.output import done, json_option, messages, show_rows
from shared.accounts.administration import find_account
from shared.inbound.unassigned import assign_inbound, list_unassigned, list_unassigned_numbers
from shared.plurals import counted


@click.group()
def inbound() -> None:
    """Show inbound messages to numbers that belong to no account.

    They are kept for 90 days. Once an account has the number as an approved sender ID, new messages are the account's;
    `assign` gives it the older ones.
    """


@inbound.command("list")
@click.option("--to", "sent_to", help="Only messages to this number.")
@click.option("--before", type=click.UUID, help="Only messages older than this id: the last of the previous page.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def list_inbound(sent_to: str | None, before: UUID | None, limit: int, as_json: bool) -> None:
    """List messages, newest first."""
    with database() as connection:
        rows = list_unassigned(connection, sent_to=sent_to, before=before, limit=limit)
    show_rows(rows, as_json, "Messages to unassigned numbers", "None.")


@inbound.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def numbers(limit: int, as_json: bool) -> None:
    """Count messages by the number they were sent to."""
    with database() as connection:
        rows = list_unassigned_numbers(connection, limit)
    show_rows(rows, as_json, "Unassigned numbers", "None.")
    if rows and not as_json:
        messages().print("Give one to an account: bulksms sender request ACCOUNT NUMBER, then bulksms sender approve.")


@inbound.command()
@click.argument("number")
@click.argument("account")
def assign(number: str, account: str) -> None:
    """Assign messages to NUMBER, a sender ID of the account, to it: they become events, and opt-outs take effect."""
    assigned, more = 0, True
    with engine_of(installation()) as engine:
        while more:
            with engine.begin() as connection:
                count, more = assign_inbound(connection, number, find_account(connection, account))
            assigned += count
    done(f"{counted(assigned, 'message')} to {number} assigned to {account}.")
