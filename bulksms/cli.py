"""`bulksms`, the operator's command line."""

import sys
from importlib import import_module
from typing import Any, NamedTuple

import click


class CommandEntry(NamedTuple):
    """A command that `--help` lists without importing its module, as importing all of them takes seconds."""

    module: str
    """In bulksms/commands."""
    summary: str


COMMANDS = {
    "account": CommandEntry("account", "Manage accounts."),
    "archive": CommandEntry("archive", "Move old weeks of messages to files, and back."),
    "audit": CommandEntry("audit", "Prove that every credit and message is accounted for."),
    "audit-log": CommandEntry("audit_log", "Show who changed rights or money, newest first."),
    "carrier": CommandEntry("carrier", "Show and change carriers."),
    "contact": CommandEntry("group", "Manage the contacts of a group."),
    "doctor": CommandEntry("doctor", "Check everything and say how to fix what is wrong."),
    "doubt": CommandEntry("doubt", "Show and resolve messages in doubt."),
    "group": CommandEntry("group", "Manage contact groups."),
    "guard": CommandEntry("guard", "Show and release the guard against restored databases."),
    "inbound": CommandEntry("inbound", "Show inbound messages to numbers that no account has."),
    "job": CommandEntry("job", "Show and retry jobs that keep failing."),
    "key": CommandEntry("key", "Manage API keys."),
    "limit": CommandEntry("limit", "Show and set the limits of an account."),
    "margin": CommandEntry("margin", "Show what messages brought and what carriers cost."),
    "message": CommandEntry("message", "Find messages and see what happened to them."),
    "migrate": CommandEntry("service", "Migrate the database to the schema of this release."),
    "operator-key": CommandEntry("key", "Manage the keys of the operator API."),
    "person": CommandEntry("person", "Manage people who sign in."),
    "price": CommandEntry("price", "Manage price lists."),
    "reconcile": CommandEntry("reconcile", "Resolve messages in doubt from a carrier's report."),
    "rule": CommandEntry("rule", "Show and set quiet hours and caps of an account."),
    "send": CommandEntry("send", "Show, hold, release and cancel sends."),
    "sender": CommandEntry("sender", "Manage sender IDs."),
    "smpp": CommandEntry("smpp", "Manage the credentials of the SMPP server."),
    "smsc": CommandEntry("smsc", "Run a simulated SMSC to try SMPP without a carrier."),
    "statement": CommandEntry("statement", "Show what moved an account's balance in a month."),
    "suppression": CommandEntry("group", "Manage the opt-out list of an account."),
    "text": CommandEntry("text", "List the keys that encrypt texts, and re-encrypt with another one."),
    "up": CommandEntry("service", "Run the whole service in this folder."),
}


class Commands(click.Group):
    """Imports commands on demand, and reports their errors as one sentence on standard error with exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = COMMANDS.get(cmd_name)
        if known is None:
            return None
        declared = vars(import_module(f"bulksms.commands.{known.module}")).values()
        return next(each for each in declared if isinstance(each, click.Command) and each.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, known.summary) for name, known in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        if sys.stdout is None:
            raise click.ClickException("Standard output is closed. Nothing was done. Discard it with > /dev/null.")
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            # Imported only now: the modules of these errors take longer to import than most commands take to run.
            sentence: str | None = import_module("bulksms.failures").sentence_of(error)
            if sentence is None:
                raise
            raise click.ClickException(sentence) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bulksms", prog_name="bulksms")
def main() -> None:
    """Operate the bulk SMS service.

    Works on the installation that DATABASE_URL, REDIS_URL and SECRET_KEY name, or else on the one that runs in this
    folder. ACCOUNT is an account's id or name.
    """
