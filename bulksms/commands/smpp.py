"""`bulksms smpp`."""

from datetime import UTC, datetime
from typing import Any

import click

from bulksms.environment import database, installation
from bulksms.numbers import MAX_INTEGER
from bulksms.output import done, json_option, messages, show_one, show_rows
from shared.accounts import smpp_credentials as credentials
from shared.accounts.administration import find_account
from shared.accounts.smpp_credentials import ALPHABETS, MAX_BINDS, MAX_WINDOW, find_own, list_credentials
from shared.events.replays import first_xid, replay_to_credential
from shared.health.finding import hint

BINDS, WINDOW, RATE = click.IntRange(1, MAX_BINDS), click.IntRange(1, MAX_WINDOW), click.IntRange(1, MAX_INTEGER)
SINCE = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])


OPTIONS = (
    click.option("--allow", "networks", multiple=True, help="A network that it may bind from; may be repeated."),
    click.option("--anywhere", is_flag=True, help="Let it bind from any address."),
    click.option("--max-binds", type=BINDS, help="Open binds; at first 2."),
    click.option("--window", "window_size", type=WINDOW, help="Unanswered PDUs of a bind; at first 10."),
    click.option("--rate", type=RATE, help="Submits per second; default: the account's requests per second."),
    click.option("--alphabet", type=click.Choice(ALPHABETS), help="Of data_coding 0; at first gsm."),
    click.option("--default-sender", help="The sender ID of submits without a source address."),
)


def settings(command: Any) -> Any:
    """Adds the options of a credential's settings."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.group()
def smpp() -> None:
    """Manage the credentials of the SMPP server."""


@smpp.command()
@click.argument("account")
@click.argument("system_id")
@settings
@click.option("--test", is_flag=True, help="For the account's sandbox: play credits, simulated carrier.")
@json_option
def create(account: str, system_id: str, networks: tuple[str, ...], anywhere: bool, as_json: bool, **more: Any) -> None:
    """Create a credential. Its password is shown once."""
    if bool(networks) == anywhere:
        raise click.UsageError("Name its networks with --allow, or let it bind from --anywhere.")
    chosen = {name: value for name, value in more.items() if value is not None}
    target, allowed = installation(), None if anywhere else networks
    with database(target) as connection:
        owner, pepper = find_account(connection, account), target.settings.secret_key
        made = credentials.create_credential(connection, owner, system_id, pepper, networks=allowed, **chosen)
        _show_password(made, as_json)


@smpp.command("list")
@click.argument("account", required=False)
@json_option
def list_all(account: str | None, as_json: bool) -> None:
    """List the credentials of an account, or of all, with their open binds."""
    with database() as connection:
        rows = list_credentials(connection, find_account(connection, account) if account else None, all=True)
    if not as_json:
        for row in rows:
            row["binds"] = [f"{each['kind']} {each['address']} since {each['bound_at']:%H:%M}" for each in row["binds"]]
    make = hint("smpp", "create", account or "ACCOUNT", "SYSTEM_ID", "--allow", "NETWORK")
    show_rows(rows, as_json, "SMPP credentials", f"There are none. Make one: {make}")


@smpp.command()
@click.argument("system_id")
@settings
def change(system_id: str, networks: tuple[str, ...], anywhere: bool, **more: Any) -> None:
    """Change settings. They hold from the next bind; open binds keep theirs."""
    changes = {name: value for name, value in more.items() if value is not None}
    if networks or anywhere:
        changes["networks"] = None if anywhere else networks
    if not changes or (networks and anywhere):
        raise click.UsageError("Name what to change, and either --allow or --anywhere.")
    with database() as connection:
        credentials.change_credential(connection, find_own(connection, system_id), changes)
    done(f"{system_id} is changed, from its next bind on.")


@smpp.command()
@click.argument("system_id")
@click.option("--since", type=SINCE, required=True, help="A day or a time, such as 2026-03-02T09:00:00Z.")
def replay(system_id: str, since: datetime) -> None:
    """Deliver receipts and messages from phones since a time again."""
    since = since.replace(tzinfo=UTC)
    with database() as connection:
        own = find_own(connection, system_id, lock=False)
        replay_to_credential(connection, own, since, first_xid(connection, own["account_id"], since))
    done(f"What happened since {since:%Y-%m-%d %H:%M}Z is delivered to {system_id} again.")


@smpp.command()
@click.argument("system_id")
@json_option
def rotate(system_id: str, as_json: bool) -> None:
    """Give a credential a new password, and end its binds. It is shown once."""
    target = installation()
    with database(target) as connection:
        own, pepper = find_own(connection, system_id), target.settings.secret_key
        _show_password(credentials.rotate_password(connection, own, pepper), as_json)


@smpp.command()
@click.argument("system_id")
def revoke(system_id: str) -> None:
    """Revoke a credential, and end its binds within seconds."""
    with database() as connection:
        credentials.revoke_credential(connection, find_own(connection, system_id))
    done(f"{system_id} is revoked.")


def _show_password(made: credentials.NewCredential, as_json: bool) -> None:
    show_one(made._asdict(), as_json)
    if not as_json:
        messages().print("[yellow]Keep the password now: it is stored as a hash and cannot be shown again.[/yellow]")
