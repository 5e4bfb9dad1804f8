"""`bulksms key`."""

from datetime import UTC, datetime, timedelta

import click

from bulksms.environment import database, installation
from bulksms.numbers import MAX_INTEGER
from bulksms.output import done, json_option, messages, show_one, show_rows
from shared.accounts import administration as accounts
from shared.accounts.api_keys import MAX_OVERLAP_SECONDS, list_all_keys, rotate_key
from shared.api_key import make_key
from shared.health.finding import hint
from shared.scopes import DEFAULT_SCOPES, SCOPES

SCOPES_HELP = "May be repeated; `all`: every scope. Default: sms:send and the read scopes."


@click.group()
def key() -> None:
    """Manage API keys."""


@key.command()
@click.argument("account")
@click.option("--test", is_flag=True, help="A key of the account's sandbox: play credits, simulated carrier.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(("all", *SCOPES)), help=SCOPES_HELP)
@click.option("--expires-in-days", type=click.IntRange(1, 3650), help="Days until the key expires; default: never.")
@click.option("--name", help="A label for the key.")
@click.option("--allow", "allowed", multiple=True, help="Restrict the key to this network; may be repeated.")
@click.option(
    "--requests-per-second", type=click.IntRange(1, MAX_INTEGER), help="Maximum number of requests per second."
)
@json_option
def create(
    account: str,
    test: bool,
    scopes: tuple[str, ...],
    expires_in_days: int | None,
    name: str | None,
    allowed: tuple[str, ...],
    requests_per_second: int | None,
    as_json: bool,
) -> None:
    """Create a key. Its secret is shown once."""
    target = installation()
    expires_at = datetime.now(UTC) + timedelta(days=expires_in_days) if expires_in_days else None
    with database(target) as connection:
        owner = accounts.find_account(connection, account)
        new_key = accounts.create_key(
            connection,
            owner,
            target.settings.secret_key,
            test,
            SCOPES if "all" in scopes else scopes or DEFAULT_SCOPES,
            expires_at,
            name=name,
            allowed_ips=allowed,
            requests_per_second=requests_per_second,
        )
        show_one(new_key._asdict(), as_json)
    _remind(as_json)


@key.command("list")
@click.argument("account")
@json_option
def list_keys(account: str, as_json: bool) -> None:
    """List an account's keys, without secrets."""
    with database() as connection:
        rows = list_all_keys(connection, accounts.find_account(connection, account))
    show_rows(rows, as_json, f"Keys of {account}", f"No keys yet. Make one: {hint('key', 'create', account)}")


@key.command()
@click.argument("account")
@click.argument("api_key")
@click.option(
    "--overlap",
    type=click.IntRange(0, MAX_OVERLAP_SECONDS),
    default=86_400,
    show_default=True,
    help="Seconds for which the old secret keeps working.",
)
@json_option
def rotate(account: str, api_key: str, overlap: int, as_json: bool) -> None:
    """Issue a new secret for a key. It is shown once."""
    target = installation()
    with database(target) as connection:
        owner = accounts.find_account(connection, account)
        secret, pepper = make_key().api_secret, target.settings.secret_key
        until = rotate_key(connection, owner, api_key, secret, pepper, overlap)
        show_one({"api_key": api_key, "api_secret": secret, "old_secret_expires_at": until}, as_json)
    _remind(as_json)


@key.command()
@click.argument("api_key")
def revoke(api_key: str) -> None:
    """Revoke a key at once, and its tokens within seconds."""
    with database() as connection:
        accounts.revoke_key(connection, api_key)
    done(f"{api_key} is revoked.")


def _remind(as_json: bool) -> None:
    if not as_json:
        messages().print("[yellow]Keep the secret now: it is stored as a hash and cannot be shown again.[/yellow]")
