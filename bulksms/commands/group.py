"""`bulksms group`, `bulksms contact` and `bulksms suppression`."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import click
from rich.markup import escape
from sqlalchemy import Integer, Text, bindparam, cast, select

from bulksms.environment import database, engine_of, installation, of_account
from bulksms.imports import Report, import_contacts
from bulksms.numbers import MAX_INTEGER
from bulksms.output import done, echo, json_option, messages, show_rows
from shared.contacts import groups as contacts
from shared.contacts import suppressions
from shared.db.tables import contacts as tables
from shared.health.finding import hint
from shared.lifecycle import Category
from shared.plurals import counted
from shared.senders.sender_ids import NO_SENDER_ID, form_of

LISTED, OPTED_OUT = tables.contact_group.c, tables.suppression.c
GROUPS = (
    select(LISTED.id, LISTED.name, LISTED.contact_count.label("contacts"), LISTED.created_at, LISTED.updated_at)
    .where(LISTED.account_id == bindparam("account"), LISTED.deleted_at.is_(None))
    .order_by(LISTED.name)
)
SUPPRESSED = (
    select(cast(OPTED_OUT.phone, Text).label("phone"))
    .add_columns(*OPTED_OUT["reason", "category", "sender_id", "created_at"])
    .where(OPTED_OUT.account_id == bindparam("account"))
    .order_by(OPTED_OUT.created_at.desc(), cast(OPTED_OUT.phone, Text))
    .limit(bindparam("limit", type_=Integer))
)


@click.group()
def group() -> None:
    """Manage contact groups."""


@group.command()
@click.argument("account")
@click.argument("name")
def create(account: str, name: str) -> None:
    """Create an empty group. Prints its id."""
    with of_account(account) as (connection, account_id):
        made = contacts.create_group(connection, account_id, name)
        echo(made)
    done(f"Group {name!r}. Next: {hint('group', 'import', made, 'FILE.csv')}")


@group.command("list")
@click.argument("account")
@json_option
def list_groups(account: str, as_json: bool) -> None:
    """List an account's groups."""
    with of_account(account) as (connection, account_id):
        rows = connection.execute(GROUPS, {"account": account_id}).mappings().all()
    show_rows(rows, as_json, f"Groups of {account}", f"None. Make one: {hint('group', 'create', account, 'NAME')}")


@group.command()
@click.argument("group_id", type=click.UUID)
def delete(group_id: UUID) -> None:
    """Delete a group. Sends to it that were already accepted continue."""
    with database() as connection:
        contacts.delete_group(connection, group_id)
    done("The group is deleted.")


@group.command("import")
@click.argument("group_id", type=click.UUID)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--errors", type=click.Path(dir_okay=False, path_type=Path), help="CSV file for rejected rows.")
@click.option("--charset", help="Encoding of the file, such as windows-1252.  [default: utf-8]")
@click.option("--phone-column", help="Name of the column of the phone numbers, or its number.  [default: found]")
def import_file(group_id: UUID, file: Path, errors: Path | None, charset: str | None, phone_column: str | None) -> None:
    """Add contacts from a CSV file. Its column of mobile phones is found by its name and its values.

    The column `tags` holds tags separated by semicolons; other named columns become fields. Numbers may be written as
    in the account's country. To resume an interrupted import, run it again. Fails if the file has no phone number.
    """
    with engine_of(installation()) as engine:
        report = import_contacts(engine, group_id, file, errors, charset, phone_column)
    for rejected in report.first_bad:
        messages().print(f"[yellow]line {rejected.line}[/yellow]: {escape(repr(rejected.value))}: {rejected.detail}")
    if report.rejected > len(report.first_bad):
        rest = f"{errors} has them all" if errors else "use --errors FILE to get them all"
        messages().print(f"... and {report.rejected - len(report.first_bad):,} more; {rest}")
    if not report.added + report.changed + report.known:
        raise click.ClickException(f"{file} has no valid contact. Each needs a phone number in the same column.")
    done(import_summary(report))


def import_summary(report: Report) -> str:
    """Summarize an import in one sentence."""
    summary = f"{counted(report.added, 'contact')} added"
    if report.changed:
        summary += f"; {counted(report.changed, 'contact')} changed"
    if report.known:
        summary += f"; {counted(report.known, 'row')} skipped, the phone number was already there"
    if report.rejected:
        summary += f"; {counted(report.rejected, 'row')} rejected"
    return summary + "."


@click.group()
def contact() -> None:
    """Manage the contacts of a group."""


@contact.command("add")
@click.argument("group_id", type=click.UUID)
@click.argument("phones", nargs=-1, required=True)
def add_contact(group_id: UUID, phones: tuple[str, ...]) -> None:
    """Add phone numbers to a group."""
    with database() as connection:
        added = contacts.add_contacts(connection, group_id, phones)
    done(f"{counted(added, 'contact')} added; {len(phones) - added} already there.")


@contact.command("remove")
@click.argument("group_id", type=click.UUID)
@click.argument("phones", nargs=-1, required=True)
def remove_contact(group_id: UUID, phones: tuple[str, ...]) -> None:
    """Remove phone numbers from a group."""
    with database() as connection:
        removed = contacts.remove_contacts(connection, group_id, phones)
    done(f"{counted(removed, 'contact')} removed; {len(phones) - removed} not in the group.")


@click.group()
def suppression() -> None:
    """Manage an account's opt-out list."""


def of_scope(command: Callable[..., None]) -> Callable[..., None]:
    """Options for what an opt-out applies to, as the parameters `category` and `sender_id`."""
    category = click.option(
        "--category", type=click.Choice([*map(str, Category)]), help="Only for messages of this category."
    )
    return category(click.option("--sender", "sender_id", help="Only for messages from this sender ID.")(command))


@suppression.command("add")
@click.argument("account")
@click.argument("phone")
@of_scope
@click.option("--reason", default="operator", show_default=True)
def add_suppression(account: str, phone: str, category: str | None, sender_id: str | None, reason: str) -> None:
    """Add a phone number to an account's opt-out list.

    The opt-out applies to all messages, or only to those of a category, from a sender ID, or both.
    """
    if sender_id is not None and form_of(sender_id) is None:
        raise click.BadParameter(NO_SENDER_ID, param_hint="--sender")
    scope = suppressions.Scope(category or "", sender_id or "")
    with of_account(account) as (connection, account_id):
        new = suppressions.suppress(connection, account_id, phone, reason, scope)
        if new:
            suppressions.report_suppressed(connection, account_id, 1, phone, reason, scope)
    no_more = f"no more {category} messages" if category else "nothing more"
    sender = f"the sender ID {sender_id} of " if sender_id else ""
    done(f"{phone} gets {no_more} from {sender}{account}." if new else f"{phone} was already on the list.")


@suppression.command("remove")
@click.argument("account")
@click.argument("phone")
@of_scope
def remove_suppression(account: str, phone: str, category: str | None, sender_id: str | None) -> None:
    """Remove a phone number from an account's opt-out list.

    Without --category and --sender, this removes all opt-outs of the number. With them, it removes only the opt-out
    that was added with the same options.
    """
    scope = suppressions.Scope(category or "", sender_id or "") if category or sender_id else None
    with of_account(account) as (connection, account_id):
        was = suppressions.unsuppress(connection, account_id, phone, scope)
    if not was:
        done(f"{phone} was not on the list." if scope is None else f"{phone} was not on the list for that.")
    elif scope is None:
        done(f"{phone} can get messages again.")
    else:
        done("The opt-out is removed.")


@suppression.command("list")
@click.argument("account")
@click.option("--limit", type=click.IntRange(1, MAX_INTEGER), default=100, show_default=True)
@json_option
def list_suppressions(account: str, limit: int, as_json: bool) -> None:
    """Show an account's opt-out list, newest first."""
    with of_account(account) as (connection, account_id):
        rows = connection.execute(SUPPRESSED, {"account": account_id, "limit": limit}).mappings().all()
    show_rows(rows, as_json, f"Opt-outs of {account}", "Nobody has opted out.")
