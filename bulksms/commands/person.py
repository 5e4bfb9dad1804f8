"""`bulksms person`."""

from datetime import timedelta
from typing import Any

import click
from rich.markup import escape
from sqlalchemy import Connection, Row, func, select

from bulksms.environment import database, engine_of, installation
from bulksms.output import done, echo, json_option, messages, show_json, show_rows
from shared.accounts import administration as accounts
from shared.accounts.administration import Refused
from shared.db.tables.accounts import account as account_table
from shared.db.tables.people import membership
from shared.db.tables.people import person as person_table
from shared.people.identities import unbind_identities
from shared.people.invitations import invite as invite_person
from shared.people.persons import disable_person, enable_person, normalized_email, person_by_email, set_operator_role
from shared.people.retention import release_email
from shared.people.roles import OPERATOR_ROLES, ROLES
from shared.people.sign_in_links import VALID, has_link, make_link

ACCOUNTS = (
    select(account_table.c.name + ": " + membership.c.role)
    .join_from(membership, account_table, account_table.c.id == membership.c.account_id)
    .where(membership.c.person_id == person_table.c.id, membership.c.ended_at.is_(None))
    .order_by(account_table.c.name)
)
LIST = (
    select(
        person_table.c.email,
        person_table.c.name,
        person_table.c.state,
        person_table.c.operator_role,
        person_table.c.totp_secret.is_not(None).label("totp"),
        func.array(ACCOUNTS.scalar_subquery()).label("accounts"),
        person_table.c.created_at,
        person_table.c.last_sign_in_at,
        person_table.c.id,
    )
    .where(person_table.c.email.is_not(None))
    .order_by(person_table.c.email)
)


class Email(click.ParamType[Any]):
    """An e-mail address, in lower case."""

    name = "email"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Convert to lower case."""
        email = normalized_email(value)
        if email is None:
            self.fail(f"{value!r} is not an e-mail address, or not ASCII.", param, ctx)
        return email


EMAIL = Email()


@click.group()
def person() -> None:
    """Manage people who sign in."""


@person.command("list")
@json_option
def list_people(as_json: bool) -> None:
    """List all people, with their accounts and roles."""
    with database() as connection:
        rows = connection.execute(LIST).mappings().all()
    show_rows(
        rows, as_json, "People", "Nobody yet. Invite somebody: bulksms person invite EMAIL --account A --role owner"
    )


@person.command()
@click.argument("email", type=EMAIL)
@click.option("--account", help="The account to invite to: its id or name.")
@click.option("--role", type=click.Choice(ROLES), help="The role in the account.")
@click.option("--operator", "operator_role", type=click.Choice(OPERATOR_ROLES), help="A role in the installation.")
@json_option
def invite(email: str, account: str | None, role: str | None, operator_role: str | None, as_json: bool) -> None:
    """Invite somebody. Prints the link to accept with, which works once within 7 days."""
    if (account is None) != (role is None):
        raise click.UsageError("Give --account and --role together.")
    if account is None and operator_role is None:
        raise click.UsageError("Give --account and --role, or --operator, or all of them.")
    target = installation()
    with database(target) as connection:
        account_id = accounts.find_account(connection, account) if account is not None else None
        invitation = invite_person(connection, email, account_id, role, operator_role)
        url = f"{target.settings.console_url}/invitations/{invitation.token}"
        _show_link({"email": email, "url": url, "expires_at": invitation.expires_at}, as_json)
    _remind(as_json)


@person.command()
@click.argument("email", type=EMAIL)
@json_option
def link(email: str, as_json: bool) -> None:
    """Print a link that signs a person in once, within 15 minutes, without password or code.

    With it they can set a new password. Give it to nobody else. An earlier link of the person stops working.
    """
    target = installation()
    with database(target) as connection:
        row = _active(connection, email)
        is_replaced = has_link(connection, row.id)
        url = f"{target.settings.console_url}/sign-in/link/{make_link(connection, row.id)}"
        _show_link({"email": email, "url": url, "valid": _minutes(VALID)}, as_json)
    if is_replaced:
        messages().print("This person's earlier link no longer works.")
    _remind(as_json)


@person.command()
@click.argument("email", type=EMAIL)
@click.argument("role", type=click.Choice((*OPERATOR_ROLES, "none")))
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
def operator(email: str, role: str, yes: bool) -> None:
    """Change the role of a person in the installation. They have to sign in again.

    An e-mail address is a name, not a proof of who they are: the owner of any account may have invited them by it.
    """
    with engine_of(installation()) as engine:
        with engine.begin() as connection:
            shown = connection.execute(LIST.where(person_table.c.id == _active(connection, email).id)).mappings().one()
        if role != "none":
            named = f"{email}: id {shown['id']}, created {shown['created_at']}"
            messages().print(escape(f"{named}, accounts: {', '.join(shown['accounts']) or 'none'}"))
            if not yes:
                click.confirm("Is this the right person?", abort=True, err=True)
        with engine.begin() as connection:
            row = _active(connection, email)
            if row.id != shown["id"]:
                raise Refused(f"{email} now belongs to another person. Try again.")
            set_operator_role(connection, row.id, None if role == "none" else role)
    done(f"{email} is not an operator." if role == "none" else f"{email} is an operator with the role {role}.")


@person.command()
@click.argument("email", type=EMAIL)
@click.option("--erase", is_flag=True, help="Erase them at once, so that the address can be invited again.")
def disable(email: str, erase: bool) -> None:
    """Disable a person: their sessions end at once, and their tokens within seconds."""
    if erase:
        with database() as connection:
            release_email(connection, email)
        done(f"{email} is erased: their memberships have ended. Inviting the address again creates a new person.")
        return
    with database() as connection:
        disable_person(connection, email)
    done(f"{email} is disabled. After 30 days their name and e-mail address are erased.")


@person.command()
@click.argument("email", type=EMAIL)
def enable(email: str) -> None:
    """Enable a disabled person again."""
    with database() as connection:
        enable_person(connection, email)
    done(f"{email} can sign in again.")


@person.command("unlink-identity")
@click.argument("email", type=EMAIL)
def unlink_identity(email: str) -> None:
    """Let a person sign in with another identity of the OpenID Connect provider.

    Their next sign-in through the provider finds them by their e-mail address again.
    """
    with database() as connection:
        is_unlinked = unbind_identities(connection, _active(connection, email).id)
    done(f"{email} {'is no longer' if is_unlinked else 'was not'} linked to an identity.")


def _active(connection: Connection, email: str) -> Row[Any]:
    row = person_by_email(connection, email)
    if row is None or row.state != "active":
        state = "is disabled" if row is not None else "does not exist"
        raise Refused(f"The person {email} {state}. `bulksms person list` lists everyone.")
    return row


def _show_link(shown: dict[str, Any], as_json: bool) -> None:
    if as_json:
        show_json(shown)
    else:
        echo(shown["url"])


def _remind(as_json: bool) -> None:
    if not as_json:
        messages().print(
            "[yellow]Pass the link on to this person only. It works once, and is not shown again.[/yellow]"
        )


def _minutes(valid: timedelta) -> str:
    return f"{valid.total_seconds() / 60:.0f} minutes"
