"""`bulksms sender`."""

import click

from bulksms.environment import database, of_account
from bulksms.output import done, json_option, show_rows
from shared.accounts import administration as accounts
from shared.health.finding import hint
from shared.lifecycle import SENDER_ID_STATES
from shared.senders import sender_ids as senders
from shared.senders.requests import list_sender_ids
from shared.senders.similarity import Name


@click.group()
def sender() -> None:
    """Manage sender IDs."""


@sender.command()
@click.argument("account")
@click.argument("sender_id")
def request(account: str, sender_id: str) -> None:
    """Request a sender ID on behalf of an account."""
    with of_account(account) as (connection, account_id):
        new = senders.request_sender(connection, account_id, sender_id)
    done(
        f"{sender_id} is pending. Next: {hint('sender', 'approve', account, sender_id)}"
        if new
        else f"{sender_id} had already been requested."
    )


@sender.command("list")
@click.argument("account", required=False)
@click.option("--status", type=click.Choice(SENDER_ID_STATES))
@json_option
def list_senders(account: str | None, status: str | None, as_json: bool) -> None:
    """List sender IDs of one account or all, with similar ones of other accounts."""
    with database() as connection:
        owner = accounts.find_account(connection, account) if account else None
        rows = list_sender_ids(connection, account_id=owner, state=status)
    shown = [
        {
            "account": row.pop("account_id"),
            "name": row.pop("account"),
            **{name: value for name, value in row.items() if name != "id"},
            "similar_to": _describe(row["similar_to"]),
        }
        for row in rows
    ]
    show_rows(shown, as_json, "Sender IDs", "None. Request one: bulksms sender request ACCOUNT SENDER_ID")


@sender.command()
@click.argument("account")
@click.argument("sender_id")
@click.option("--reason")
def approve(account: str, sender_id: str, reason: str | None) -> None:
    """Approve a sender ID."""
    _decide(account, sender_id, "approved", reason)


@sender.command()
@click.argument("account")
@click.argument("sender_id")
@click.option("--reason", required=True, help="Shown to the account.")
def reject(account: str, sender_id: str, reason: str) -> None:
    """Reject a sender ID."""
    _decide(account, sender_id, "rejected", reason)


@sender.command()
@click.argument("account")
@click.argument("sender_id")
@click.option("--reason", required=True, help="Shown to the account.")
def suspend(account: str, sender_id: str, reason: str) -> None:
    """Suspend an approved sender ID."""
    _decide(account, sender_id, "suspended", reason)


@sender.command()
@click.argument("account")
@click.argument("sender_id")
@click.argument("allowed", type=click.Choice(["on", "off"]))
def authentication(account: str, sender_id: str, allowed: str) -> None:
    """Allow or forbid the category authentication for one sender ID."""
    with of_account(account) as (connection, owner):
        senders.allow_authentication_from(connection, owner, sender_id, allowed == "on")
    done(f"{sender_id} {'may' if allowed == 'on' else 'may not'} be used in the category authentication.")


def _describe(names: list[Name]) -> list[str] | None:
    return [f"{name.sender_id} of {name.account}" for name in names] or None


def _decide(account: str, sender_id: str, state: senders.Decision, reason: str | None) -> None:
    with of_account(account) as (connection, account_id):
        senders.decide_sender(connection, account_id, sender_id, state, reason)
    done(f"{sender_id} is {state}.")
