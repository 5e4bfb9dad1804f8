"""`bulksms operator-key`."""

from datetime import UTC, datetime, timedelta

import click

from bulksms.environment import database, installation
from bulksms.output import done, json_option, messages, show_one, show_rows
from shared.accounts.operator_keys import (
    OPERATOR_SCOPES,
    create_operator_key,
    list_operator_keys,
    revoke_operator_key,
)

SCOPES_HELP = "May be repeated; `all`: every scope. " + "; ".join(
    f"{scope}: {allowed}" for scope, allowed in OPERATOR_SCOPES.items()
)


@click.group("operator-key")
def operator_key() -> None:
    """Manage the keys of the operator API."""


@operator_key.command()
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, required=True, type=click.Choice(("all", *OPERATOR_SCOPES)), help=SCOPES_HELP
)
@click.option("--expires-in-days", type=click.IntRange(1, 3650), help="Days until the key expires; default: never.")
@click.option("--allow", "allowed", multiple=True, help="Restrict the key to this network; may be repeated.")
@json_option
def create(
    name: str, scopes: tuple[str, ...], expires_in_days: int | None, allowed: tuple[str, ...], as_json: bool
) -> None:
    """Create a key, with the NAME of the person or system that uses it. Its secret is shown once."""
    target = installation()
    expires_at = datetime.now(UTC) + timedelta(days=expires_in_days) if expires_in_days else None
    with database(target) as connection:
        new_key = create_operator_key(
            connection,
            name,
            tuple(OPERATOR_SCOPES) if "all" in scopes else scopes,
            target.settings.secret_key,
            expires_at,
            allowed_ips=allowed,
        )
        show_one(new_key._asdict(), as_json)
    if not as_json:
        messages().print("[yellow]Keep the secret now: it is stored as a hash and cannot be shown again.[/yellow]")


@operator_key.command("list")
@json_option
def list_keys(as_json: bool) -> None:
    """List all keys, without secrets."""
    with database() as connection:
        rows = list_operator_keys(connection)
    show_rows(rows, as_json, "Operator keys", "There are none. Make one: bulksms operator-key create NAME --scope read")


@operator_key.command()
@click.argument("key")
def revoke(key: str) -> None:
    """Revoke a key at once, and its tokens within seconds."""
    with database() as connection:
        revoke_operator_key(connection, key)
    done(f"{key} is revoked.")
