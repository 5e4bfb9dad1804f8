"""`bulksms`, the operator's command line."""

from typing import Any

import click
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError

from api.problems import Problem
from bulksms.commands.account import account, topup
from bulksms.commands.audit import audit_command
from bulksms.commands.carriers import carriers
from bulksms.commands.change import changes
from bulksms.commands.doctor import doctor
from bulksms.commands.doubt import doubt
from bulksms.commands.group import contact, group, suppression
from bulksms.commands.guard import guard
from bulksms.commands.key import key
from bulksms.commands.limit import limit
from bulksms.commands.reconcile import reconcile
from bulksms.commands.rule import rule
from bulksms.commands.send import send
from bulksms.commands.sender import sender
from bulksms.commands.service import migrate, up
from bulksms.commands.smsc import smsc
from bulksms.local.errors import LocalError
from shared.accounts import Refused
from shared.settings import SettingsError


class Commands(click.Group):
    """Turns what a command raises into a sentence on standard error and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (Refused, SettingsError, LocalError) as error:
            raise click.ClickException(str(error)) from error
        except Problem as problem:
            raise click.ClickException(str(problem.args[1])) from problem
        except (OperationalError, InterfaceError) as error:
            raise click.ClickException(
                f"The database does not answer. `bulksms doctor` says more.\n{error.orig}"
            ) from error
        except ProgrammingError as error:
            if getattr(error.orig, "sqlstate", None) not in UNDEFINED:
                raise
            raise click.ClickException("The database is not of this release. Run `bulksms migrate`.") from error


UNDEFINED = ("42P01", "42703", "42883")
"""SQLSTATE of a table, column or function that the database does not have."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Operate the bulk SMS service.

    Works on the installation that DATABASE_URL, REDIS_URL and SECRET_KEY name, or else on the one that runs in this
    folder. ACCOUNT is an account's id or name.
    """


for command in (
    account,
    audit_command,
    carriers,
    changes,
    contact,
    doctor,
    doubt,
    group,
    guard,
    key,
    limit,
    rule,
    migrate,
    reconcile,
    send,
    sender,
    smsc,
    suppression,
    topup,
    up,
):
    main.add_command(command)
