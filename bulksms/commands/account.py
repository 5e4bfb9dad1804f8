"""`bulksms account`."""

import json
from typing import Any
from uuid import UUID, uuid4

import click

from bulksms.amounts import Credits, worth
from bulksms.environment import database, of_account
from bulksms.output import done, echo, json_option, show_one, show_rows
from shared.accounts import administration as accounts
from shared.accounts.administration import close_account
from shared.accounts.change_account import MAX_THRESHOLD, MAX_WEIGHT, change_account
from shared.accounts.overview import list_accounts as read_accounts
from shared.accounts.overview import list_top_ups, show_account
from shared.accounts.refunds import refund_message, refund_send
from shared.accounts.top_ups import Posted, adjust, reverse_top_up, top_up
from shared.health.finding import hint
from shared.plurals import counted
from shared.sends.requeue import reactivate

LISTED = (
    *("id", "name", "state", "available", "credit_limit", "reserved"),
    *("weight", "low_balance_threshold", "created_at"),
)
THRESHOLD, WEIGHT = Credits(0, MAX_THRESHOLD), click.IntRange(1, MAX_WEIGHT)
MAX_DIGITS = 9
NAMES = {"low_balance": "low_balance_threshold", "retention": "retention_days"}


@click.group()
def account() -> None:
    """Manage accounts."""


@account.command()
@click.argument("name")
@click.option(
    "--low-balance", type=THRESHOLD, default=100, show_default=True, help="Credits below which the balance is low."
)
@click.option("--weight", type=WEIGHT, default=1, show_default=True, help="Relative share of each carrier's rate.")
@click.option("--authentication", is_flag=True, help="Allow sends in the category authentication.")
def create(name: str, low_balance: int, weight: int, authentication: bool) -> None:
    """Create an account, without credits."""
    with database() as connection:
        account_id = accounts.create_account(connection, name, low_balance, weight, authentication=authentication)
        echo(account_id)
    steps = (
        hint("account", "topup", account_id, "CREDITS", "--reason", "TEXT"),
        hint("sender", "request", account_id, "SENDER_ID"),
        hint("key", "create", account_id),
    )
    done(f"Account {account_id} ({name}). Next: {'; '.join(steps)}")


@account.command("list")
@json_option
def list_accounts(as_json: bool) -> None:
    """List all accounts. `bulksms account show` also shows an account's sandbox."""
    with database() as connection:
        rows = [{name: row[name] for name in LISTED} for row in read_accounts(connection)]
    show_rows(rows, as_json, "Accounts", "There is no account. Make one: bulksms account create NAME")


@account.command()
@click.argument("account")
@json_option
def show(account: str, as_json: bool) -> None:
    """Show one account, by id or name."""
    with of_account(account) as (connection, account_id):
        row = show_account(connection, account_id)
    show_one(row or {}, as_json)


@account.command()
@click.argument("account")
@click.option("--reason", help="Kept in the audit log.")
def suspend(account: str, reason: str | None) -> None:
    """Accept no new sends from an account. Accepted sends continue; `bulksms send hold` stops one."""
    with of_account(account) as (connection, account_id):
        accounts.suspend_account(connection, account_id, reason)
    done(f"{account} is suspended.")


@account.command()
@click.argument("account")
@click.option("--reason", help="Kept in the audit log.")
def activate(account: str, reason: str | None) -> None:
    """Activate a suspended or frozen account."""
    with of_account(account) as (connection, account_id):
        reactivate(connection, account_id, reason)
    done(f"{account} is active.")


@account.command()
@click.argument("account")
@click.option("--reason", required=True, help="Kept in the audit log.")
@click.confirmation_option(prompt="This cannot be undone. Close the account?")
def close(account: str, reason: str) -> None:
    """Close an account for good: it accepts nothing more, and its keys are revoked. Its history stays."""
    with of_account(account) as (connection, account_id):
        close_account(connection, account_id, reason)
    done(f"{account} is closed.")


@account.command()
@click.argument("account")
@click.argument("code")
def country(account: str, code: str) -> None:
    """Set the country whose number format an account's contact lists use: two letters, or `none`.

    With KE, 0711000000 in an import becomes 254711000000. Sends always need international numbers.
    """
    country_code = None if code.lower() == "none" else code.upper()
    with of_account(account) as (connection, account_id):
        change_account(connection, account_id, {"country": country_code})
    done(
        f"Lists of {account} use the number format of {country_code}." if country_code else f"{account} has no country."
    )


@account.command()
@click.argument("account")
@click.argument("allowed", type=click.Choice(["on", "off"]))
def authentication(account: str, allowed: str) -> None:
    """Allow or forbid the category authentication for all sends of an account; see also `bulksms sender`."""
    with of_account(account) as (connection, account_id):
        accounts.allow_authentication(connection, account_id, allowed == "on")
    done(f"{account} {'may' if allowed == 'on' else 'may not'} send in the category authentication.")


@account.command()
@click.argument("account")
@click.argument("days")
def retention(account: str, days: str) -> None:
    """Forget texts and phone numbers of an account's sends DAYS after they completed; `none`: use RETENTION_DAYS."""
    retention_days = _days(days, "DAYS")
    with of_account(account) as (connection, account_id):
        change_account(connection, account_id, {"retention_days": retention_days})
    period = "as long as the installation" if retention_days is None else counted(retention_days, "day")
    done(f"{account} keeps texts and phone numbers for {period}.")


@account.command("set")
@click.argument("account")
@click.option("--name", help="New name.")
@click.option("--country", help="As `bulksms account country`: two letters, or `none`.")
@click.option("--low-balance", type=THRESHOLD, help="Credits below which the balance is low.")
@click.option("--weight", type=WEIGHT, help="Relative share of each carrier's rate.")
@click.option("--retention", help="As `bulksms account retention`: days, or `none`.")
@click.option("--credit-limit", type=THRESHOLD, help="Credits that it may owe.")
@click.option(
    "--spend-threshold", type=THRESHOLD, help="Credits charged in a month (UTC) that it is told of; 0: it is not."
)
@click.option("--verification", help="How its verifications work: JSON as in the operator API, or `none`.")
@click.option("--reason", help="Kept in the audit log.")
def set_account(account: str, reason: str | None, **options: Any) -> None:
    """Change settings of an account, then show them all. `bulksms audit-log` lists each change."""
    changes = {NAMES.get(name, name): value for name, value in options.items() if value is not None}
    if not changes:
        raise click.UsageError("Name what to change, such as --weight 2.")
    if "country" in changes:
        changes["country"] = None if changes["country"].lower() == "none" else changes["country"].upper()
    if "retention_days" in changes:
        changes["retention_days"] = _days(changes["retention_days"], "--retention")
    if "verification" in changes:
        changes["verification"] = _settings(changes["verification"])
    if "spend_threshold" in changes:
        changes["spend_threshold"] = changes["spend_threshold"] or None
    with of_account(account) as (connection, account_id):
        after = change_account(connection, account_id, changes, reason)
        show_one({"id": account_id, **after}, False)


@account.command()
@click.argument("account")
@json_option
def topups(account: str, as_json: bool) -> None:
    """List an account's top-ups, newest first, with what was reversed."""
    with of_account(account) as (connection, account_id):
        top_ups = list_top_ups(connection, account_id)
    rows = [{name: value for name, value in row.items() if name != "position"} for row in top_ups]
    show_rows(rows, as_json, "Top-ups", "The account has no top-up.")


@account.command("reverse-topup", context_settings={"ignore_unknown_options": True})
@click.argument("account")
@click.argument("topup")
@click.argument("credits", type=Credits())
@click.option("--reason", required=True, help="Kept in the ledger and in the audit log.")
def reverse(account: str, topup: str, credits: int, reason: str) -> None:
    """Reverse CREDITS of a mistaken top-up, once. TOPUP is its key or id (`bulksms account topups`).

    Only available credits can be reversed, not reserved or spent ones. Prints the available credits.
    """
    with of_account(account) as (connection, account_id):
        result = reverse_top_up(connection, account_id, topup, credits, reason)
        echo(result.balance)
    _tell(account, result, f"{credits:,} credits reversed.", "This top-up was already reversed; nothing was changed.")


# Without this `-5` would be an unknown option rather than a refused number.
@account.command(context_settings={"ignore_unknown_options": True})
@click.argument("account")
@click.argument("credits", type=Credits())
@click.option("--reason", required=True, help="Kept in the ledger, such as the number of an invoice.")
@click.option("--key", help="Makes the top-up repeatable: the same key again adds nothing.")
def topup(account: str, credits: int, reason: str, key: str | None) -> None:
    """Add CREDITS to an account. Prints the available credits."""
    with of_account(account) as (connection, account_id):
        result = top_up(connection, account_id, credits, reason, key or str(uuid4()))
        echo(result.balance)
    _tell(account, result, f"{counted(credits, 'credit')} added.", "This top-up was made before; nothing was added.")


@account.command("adjust", context_settings={"ignore_unknown_options": True})
@click.argument("account")
@click.argument("credits", type=Credits())
@click.option("--reason", required=True, help="Kept in the ledger, where the account sees it.")
@click.option("--key", help="Makes the adjustment repeatable: the same key again changes nothing.")
def adjust_credits(account: str, credits: int, reason: str, key: str | None) -> None:
    """Add CREDITS to an account, or take them with a number below 0. Prints the credits to spend.

    At most those are taken. To let the account owe more, raise its limit first: `bulksms account set --credit-limit`.
    """
    with of_account(account) as (connection, account_id):
        result = adjust(connection, account_id, credits, reason, key or str(uuid4()))
        echo(result.balance)
    _tell(
        account, result, f"Adjusted by {credits:+,} credits.", "This adjustment was made before; nothing was changed."
    )


@account.command()
@click.argument("account")
@click.option("--send", "send_id", type=click.UUID, help="Everything that was charged for this send.")
@click.option("--message", "message_id", type=click.UUID, help="This message.")
@click.option("--reason", required=True, help="Kept in the ledger and in the audit log.")
def refund(account: str, send_id: UUID | None, message_id: UUID | None, reason: str) -> None:
    """Refund what was charged for a send or a message, once. Prints the available credits."""
    if (send_id is None) == (message_id is None):
        raise click.UsageError("Name a send or a message: --send or --message.")
    with of_account(account) as (connection, account_id):
        if send_id is not None:
            result = refund_send(connection, account_id, send_id, reason)
        else:
            assert message_id is not None
            result = refund_message(connection, account_id, message_id, reason)
        echo(result.balance)
    done(f"{counted(result.credits, 'credit')} refunded; {account} has {result.balance:,}{worth(result.balance)}.")


def _tell(account: str, result: Posted, changed: str, repeated: str) -> None:
    balance = f"{result.balance:,} credits{worth(result.balance)}"
    done(f"{repeated if result.repeated else changed} {account} has {balance}.")


def _settings(given: str) -> Any:
    """The value of a JSON text, or None for `none`."""
    try:
        return None if given == "none" else json.loads(given)
    except ValueError:
        raise click.BadParameter("Give JSON, or `none`.", param_hint="--verification") from None


def _days(given: str, hint: str) -> int | None:
    """A number of days, or None for `none`. `hint` names the argument."""
    if given == "none":
        return None
    if not given.isdecimal() or len(given) > MAX_DIGITS:
        raise click.BadParameter("Give a number of days, or `none`.", param_hint=hint)
    return int(given)
