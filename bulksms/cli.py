"""`bulksms`, the operator's command line."""

from importlib import import_module
from typing import Any

import click
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError

from api.problems import Problem
from bulksms.local.errors import LocalError
from shared.accounts import Refused
from shared.settings import SettingsError

COMMANDS = {
    "account": "account",
    "audit": "audit",
    "carriers": "carriers",
    "changes": "change",
    "contact": "group",
    "doctor": "doctor",
    "doubt": "doubt",
    "group": "group",
    "guard": "guard",
    "inbound": "inbound",
    "job": "job",
    "key": "key",
    "limit": "limit",
    "migrate": "service",
    "reconcile": "reconcile",
    "rule": "rule",
    "send": "send",
    "sender": "sender",
    "smsc": "smsc",
    "suppression": "group",
    "text": "text",
    "topup": "account",
    "up": "service",
}
"""Each command's module in bulksms/commands, which is read when the command is used: all of them take a second."""


class Commands(click.Group):
    """Turns what a command raises into a sentence on standard error and exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        declared = vars(import_module(f"bulksms.commands.{module}")).values()
        return next(each for each in declared if isinstance(each, click.Command) and each.name == cmd_name)

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
