"""`bulksms price`."""

from datetime import UTC, datetime
from typing import Any, BinaryIO

import click
from rich.markup import escape

from bulksms.environment import database, installation
from bulksms.output import done, echo, json_option, messages, show_json, show_one, show_rows
from shared.accounts.administration import find_account
from shared.accounts.refused import Refused
from shared.contacts.text_stream import LineTooLong, NotText, WrongEncoding, text_chunks
from shared.health.finding import hint
from shared.ids import LAST_NUMBER
from shared.prices import lists
from shared.prices.drafts import make_draft, stage
from shared.prices.kept_unit import check_unit
from shared.prices.sheet import BadSheet, read_sheet

NUMBER: Any = click.IntRange(1, LAST_NUMBER)
ROWS = 5_000


@click.group()
def price() -> None:
    """Manage price lists: their versions, and the accounts that have them."""


@price.command()
@click.argument("name")
@click.option("--carrier", help="The carrier whose costs the list has.")
def create(name: str, carrier: str | None) -> None:
    """Create a price list."""
    with database() as connection:
        made = lists.create_list(connection, name, carrier=carrier)
        echo(made)
    done(f"Price list {made} ({name}). Next: {hint('price', 'import', made, 'FILE.csv')}")


@price.command("list")
@json_option
def list_lists(as_json: bool) -> None:
    """List the price lists, with the accounts that have them."""
    with database() as connection:
        rows = lists.list_lists(connection)
    columns = ("id", "name", "carrier", "version", "is_default")
    rows = [
        {**{name: row[name] for name in columns}, "accounts": [each["name"] for each in row["accounts"]]}
        for row in rows
    ]
    show_rows(rows, as_json, "Price lists", "There is no price list: a segment costs one credit.")


@price.command("show")
@click.argument("list_id", metavar="LIST", type=NUMBER)
@json_option
def show_list(list_id: int, as_json: bool) -> None:
    """List the versions of a price list."""
    with database() as connection:
        shown = lists.show_list(connection, list_id)
    columns = ("id", "status", "prices", "created_at", "valid_from")
    rows = [{name: each[name] for name in columns} for each in shown["versions"]]
    show_rows(rows, as_json, f"Versions of {shown['name']}", "The list has no version.")


@price.command("import")
@click.argument("list_id", metavar="LIST", type=NUMBER)
@click.argument("file", type=click.File("rb"))
@json_option
def import_sheet(list_id: int, file: BinaryIO, as_json: bool) -> None:
    """Import a CSV FILE as a draft, and show what it would change.

    Its columns are prefix (or country), price and category. Nothing costs more until the draft is published.
    """
    target = installation()
    with database(target) as connection:
        lists.lock_list(connection, list_id)
        check_unit(connection, target.settings.unit)
        try:
            stage(connection, read_sheet(text_chunks(file), target.settings.unit))
        except BadSheet as bad:
            for each in bad.errors[1:]:
                messages().print(escape(f"Line {each.line:,}: {each.detail}"))
            raise Refused(f"{bad} {bad.count:,} lines are wrong; nothing was stored.") from None
        except (NotText, LineTooLong, WrongEncoding) as problem:
            raise Refused(f"{file.name}: {problem}") from None
        version = make_draft(connection, list_id)
        shown = lists.show_version(connection, version, target.settings.price_notice_days)
    if as_json:
        show_json(shown)
        return
    show_rows(shown["changes"], False, "Changes (the first 100 of each kind)", "It changes nothing.")
    show_one({**{name: shown[name] for name in ("list", "prices", "earliest")}, **shown["counts"]}, False)
    done(f"Version {version} is a draft. Next: {hint('price', 'publish', version)}")


@price.command()
@click.argument("version_id", metavar="VERSION", type=NUMBER)
@click.option(
    "--from",
    "begins",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"]),
    help="From when it is valid (UTC); by default as soon as possible.",
)
def publish(version_id: int, begins: datetime | None) -> None:
    """Publish a draft. Higher and removed prices take PRICE_NOTICE_DAYS."""
    target = installation()
    valid_from = None if begins is None else begins.replace(tzinfo=UTC)
    with database(target) as connection:
        moment = lists.publish(connection, version_id, valid_from, notice_days=target.settings.price_notice_days)
    done(f"Version {version_id} is valid from {moment:%Y-%m-%d %H:%M:%S}Z.")


@price.command()
@click.argument("version_id", metavar="VERSION", type=NUMBER)
def withdraw(version_id: int) -> None:
    """Withdraw a version that is not valid yet, or delete a draft."""
    with database() as connection:
        lists.withdraw(connection, version_id)
    done(f"Version {version_id} is withdrawn.")


@price.command()
@click.argument("list_id", metavar="LIST")
@click.option("--account", help="The account that gets the list.")
@click.option("--default", "is_default", is_flag=True, help="Every account without a list of its own gets it.")
def assign(list_id: str, account: str | None, is_default: bool) -> None:
    """Give a price list to an account, or to all without their own. LIST `none` takes it away."""
    if is_default == (account is not None):
        raise click.UsageError("Give --account or --default.")
    chosen = None if list_id == "none" else NUMBER.convert(list_id, None, None)
    with database() as connection:
        account_id = None if account is None else find_account(connection, account)
        moment = lists.assign(connection, account_id, chosen)
    done(f"Valid from {moment:%Y-%m-%d %H:%M:%S}Z.")


@price.command()
@click.argument("version_id", metavar="VERSION", type=NUMBER)
def export(version_id: int) -> None:
    """Print the prices of a version as CSV, which can be imported."""
    with database() as connection:
        lists.find_version(connection, version_id)
        echo("prefix,category,price")
        after = None
        while rows := lists.list_prices(connection, version_id, after, ROWS):
            echo("\n".join(f"{row.prefix or '*'},{row.category},{row.credits}" for row in rows))
            after = [rows[-1].category, rows[-1].prefix]
