"""`bulksms key` and `bulksms operator-key`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from bulksms.environment import database, installation, of_account
from bulksms.numbers import MAX_INTEGER
from bulksms.output import done, json_option, messages, show_one, show_rows
from shared.accounts import administration as accounts
from shared.accounts.api_keys import MAX_OVERLAP_SECONDS, list_all_keys, rotate_key
from shared.accounts.operator_keys import (
    OPERATOR_SCOPES,
    create_operator_key,
    list_operator_keys,
    revoke_operator_key,
)
from shared.api_key import make_key
from shared.health.finding import hint
from shared.scopes import DEFAULT_SCOPES, SCOPES

SCOPES_HELP = "May be repeated; `all`: every scope. Default: sms:send and the read scopes."
OPERATOR_SCOPES_HELP = "May be repeated; `all`: every scope. " + "; ".join(
    f"{scope}: {allowed}" for scope, allowed in OPERATOR_SCOPES.items()
)


def restricted(command: Callable[..., None]) -> Callable[..., None]:
    """Options for when and where a new key works, as the parameters `expires_in_days` and `allowed`."""
    expires = click.option(
        "--expires-in-days", type=click.IntRange(1, 3650), help="Days until the key expires; default: never."
    )
    allow = click.option("--allow", "allowed", multiple=True, help="Restrict the key to this network; may be repeated.")
    return expires(allow(command))


@click.group()
def key() -> None:
    """Manage API keys."""


@key.command()
@click.argument("account")
@click.option("--test", is_flag=True, help="A key of the account's sandbox: play credits, simulated carrier.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(("all", *SCOPES)), help=SCOPES_HELP)
@click.option("--name", help="A label for the key.")
@restricted
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
    with database(target) as connection:
        new_key = accounts.create_key(
            connection,
            accounts.find_account(connection, account),
            target.settings.secret_key,
            test,
            SCOPES if "all" in scopes else scopes or DEFAULT_SCOPES,
            _expiry(expires_in_days),
            name=name,
            allowed_ips=allowed,
            requests_per_second=requests_per_second,
        )
        _show_secret(new_key._asdict(), as_json)


@key.command("list")
@click.argument("account")
@json_option
def list_keys(account: str, as_json: bool) -> None:
    """List an account's keys, without secrets."""
    with of_account(account) as (connection, account_id):
        rows = list_all_keys(connection, account_id)
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
        _show_secret({"api_key": api_key, "api_secret": secret, "old_secret_expires_at": until}, as_json)


@key.command()
@click.argument("api_key")
def revoke(api_key: str) -> None:
    """Revoke a key at once, and its tokens within seconds."""
    with database() as connection:
        accounts.revoke_key(connection, api_key)
    done(f"{api_key} is revoked.")


@click.group("operator-key")
def operator_key() -> None:
    """Manage the keys of the operator API."""


@operator_key.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(("all", *OPERATOR_SCOPES)),
    help=OPERATOR_SCOPES_HELP,
)
@restricted
@json_option
def create_for_operator(
    name: str, scopes: tuple[str, ...], expires_in_days: int | None, allowed: tuple[str, ...], as_json: bool
) -> None:
    """Create a key, with the NAME of the person or system that uses it. Its secret is shown once."""
    target = installation()
    wanted = tuple(OPERATOR_SCOPES) if "all" in scopes else scopes
    with database(target) as connection:
        new_key = create_operator_key(
            connection, name, wanted, target.settings.secret_key, _expiry(expires_in_days), allowed_ips=allowed
        )
        _show_secret(new_key._asdict(), as_json)


@operator_key.command("list")
@json_option
def list_of_operators(as_json: bool) -> None:
    """List all keys, without secrets."""
    with database() as connection:
        rows = list_operator_keys(connection)
    show_rows(rows, as_json, "Operator keys", "There are none. Make one: bulksms operator-key create NAME --scope read")


@operator_key.command("revoke")
@click.argument("key")
def revoke_of_operator(key: str) -> None:
    """Revoke a key at once, and its tokens within seconds."""
    with database() as connection:
        revoke_operator_key(connection, key)
    done(f"{key} is revoked.")


def _expiry(days: int | None) -> datetime | None:
    return datetime.now(UTC) + timedelta(days=days) if days else None


def _show_secret(shown: dict[str, Any], as_json: bool) -> None:
    """Show a new secret, within the transaction that makes it: if it cannot be printed, nothing is changed."""
    show_one(shown, as_json)
    if not as_json:
        messages().print("[yellow]Keep the secret now: it is stored as a hash and cannot be shown again.[/yellow]")
