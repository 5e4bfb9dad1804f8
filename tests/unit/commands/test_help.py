"""`bulksms --help` and `--version` read nothing of the service, and say what is true."""

import subprocess
import sys
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner

from bulksms.cli import COMMANDS, main

SLOW = (
    "sqlalchemy",
    "flask",
    "celery",
    "psycopg",
    "rich",
    "api.app",
    "worker.process",
    "shared.accounts.administration",
)


def test_it_works() -> None:
    shown = CliRunner().invoke(main, ["--help"])
    assert shown.exit_code == 0
    assert all(f"  {name} " in shown.output for name in COMMANDS)
    assert all(len(line) <= 80 for line in shown.output.splitlines())


def test_each_command_exists() -> None:
    context = click.Context(main)
    assert all(main.get_command(context, name) is not None for name in COMMANDS)


def test_it_prints_its_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"bulksms, version {version('bulksms')}\n"


def test_slow_modules_are_not_imported() -> None:
    code = (
        "import sys; from bulksms.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print([name for name in {SLOW!r} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_renamed_commands_and_options_are_not_shown() -> None:
    assert "changes" not in CliRunner().invoke(main, ["--help"]).output
    shown = CliRunner().invoke(main, ["changes", "--help"]).output
    assert "  --action " in shown and "  --actor " in shown
    assert "--what" not in shown and "--who" not in shown


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("changes", "audit-log"),
        ("carriers", "carrier"),
        ("topup", "account topup"),
        ("person unbind", "person unlink-identity"),
    ],
)
def test_old_names_of_commands_are_accepted_and_not_shown(old: str, new: str) -> None:
    def help_of(name: str) -> str:
        result = CliRunner().invoke(main, [*name.split(), "--help"])
        assert result.exit_code == 0, result.output
        return result.output.partition("\n\n")[2]

    assert help_of(old) == help_of(new)
    group, _, command = old.rpartition(" ")
    assert f"\n  {command} " not in CliRunner().invoke(main, [*group.split(), "--help"]).output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("key create acme --days 0", "Invalid value for '--expires-in-days'"),
        ("key create acme --rate 0", "Invalid value for '--requests-per-second'"),
        ("operator-key create billing --scope read --days 0", "Invalid value for '--expires-in-days'"),
        ("person disable ann@acme.example --release --nothing", "--nothing"),
    ],
)
def test_old_names_of_options_are_accepted(arguments: str, problem: str) -> None:
    result = CliRunner().invoke(main, arguments.split())
    assert result.exit_code == 2
    assert problem in result.output
