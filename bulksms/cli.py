"""`bulksms`, the operator's command line."""

from importlib import import_module
from typing import Any

import click

COMMANDS = {
    "account": "account",
    "archive": "archive",
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
    "message": "message",
    "migrate": "service",
    "operator-key": "operator_key",
    "person": "person",
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
"""Each command's module in bulksms/commands, imported only when needed: importing all of them takes seconds."""
SUMMARIES = {
    "account": "Manage accounts.",
    "archive": "Move old weeks of messages to files, and back.",
    "audit": "Prove that every credit and message is accounted for.",
    "carriers": "Show and change carriers.",
    "changes": "Show who changed rights or money, newest first.",
    "contact": "Manage the contacts of a group.",
    "doctor": "Check everything and say how to fix what is wrong.",
    "doubt": "Show and resolve messages in doubt.",
    "group": "Manage contact groups.",
    "guard": "Show and release the guard against restored databases.",
    "inbound": "Show inbound messages to numbers that no account has.",
    "job": "Show and retry jobs that keep failing.",
    "key": "Manage API keys.",
    "limit": "Show and set the limits of an account.",
    "message": "Find messages and see what happened to them.",
    "migrate": "Migrate the database to the schema of this release.",
    "operator-key": "Manage the keys of the operator API.",
    "person": "Manage people who sign in.",
    "reconcile": "Resolve messages in doubt from a carrier's report.",
    "rule": "Show and set quiet hours and caps of an account.",
    "send": "Show, hold, release and cancel sends.",
    "sender": "Manage sender IDs.",
    "smsc": "Run a simulated SMSC to try SMPP without a carrier.",
    "suppression": "Manage the opt-out list of an account.",
    "text": "Show and change the keys that encrypt texts.",
    "topup": "Add CREDITS to an account.",
    "up": "Run the whole service in this folder.",
}
"""Each command's line in `--help`, which must not import the modules."""


class Commands(click.Group):
    """Imports commands on demand, and reports their errors as one sentence on standard error with exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        declared = vars(import_module(f"bulksms.commands.{module}")).values()
        return next(each for each in declared if isinstance(each, click.Command) and each.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
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
