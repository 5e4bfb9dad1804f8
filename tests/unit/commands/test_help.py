"""`bulksms --help` and `--version` read nothing of the service, and say what is true."""

import subprocess
import sys

import click
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


def test_slow_modules_are_not_imported() -> None:
    code = (
        "import sys; from bulksms.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print([name for name in {SLOW!r} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
