"""What cannot be printed is not done: a secret that nobody saw, credits that would be added again."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import Result
from sqlalchemy import Engine, text

from tests.harness.people import a_person
from tests.harness.service import Service

pytestmark = pytest.mark.slow
BULKSMS = [sys.executable, "-c", "from bulksms.cli import main; main(prog_name='bulksms')"]
STATE = """
SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM api_key), (SELECT count(*) FROM operator_key),
       (SELECT sum(generation) FROM api_key), (SELECT count(*) FROM ledger), (SELECT count(*) FROM invitation),
       (SELECT count(*) FROM sign_in_link), (SELECT count(*) FROM contact_group), (SELECT count(*) FROM audit_log)
"""
Process = Callable[..., subprocess.CompletedProcess[str]]
CHANGES = [
    ("account", "create", "OTHER"),
    ("account", "topup", "ACCOUNT", "5", "--reason", "x"),
    ("account", "reverse-topup", "ACCOUNT", "first", "5", "--reason", "x"),
    ("account", "set", "ACCOUNT", "--weight", "2"),
    ("key", "create", "ACCOUNT"),
    ("key", "create", "ACCOUNT", "--json"),
    ("key", "rotate", "ACCOUNT", "KEY", "--overlap", "0"),
    ("operator-key", "create", "ops", "--scope", "read"),
    ("person", "invite", "NEW", "--operator", "support"),
    ("person", "link", "PERSON"),
    ("group", "create", "ACCOUNT", "Customers"),
]


@pytest.fixture
def process(environment: dict[str, str]) -> Process:
    """Run a command in a process of its own, with its output to a file or device."""
    env = {**os.environ, **environment, "CARRIER": "simulator", "PYTHONPATH": str(Path.cwd())}

    def call(*arguments: str, to: str = "", out: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
        command = ["sh", "-c", f'exec "$@" {to}', "sh", *BULKSMS, *arguments]
        return subprocess.run(command, env=env, stdout=out, stderr=subprocess.PIPE, text=True, timeout=300, check=False)

    return call


def state(engine: Engine) -> tuple[object, ...]:
    with engine.connect() as connection:
        return tuple(connection.execute(text(STATE)).one())


@pytest.fixture
def names(engine: Engine, run: Callable[..., Result]) -> dict[str, str]:
    """What stands in the commands: an account with a top-up and a key, and a person."""
    tag = uuid4().hex[:12]
    account, person = f"account {tag}", a_person(Service(engine)).email
    run("account", "create", account)
    run("account", "topup", account, "500", "--reason", "x", "--key", "first")
    run("key", "create", account)
    with engine.connect() as connection:
        of_account = "SELECT k.id FROM api_key k JOIN account a ON a.id = k.account_id WHERE a.name = :name"
        key = str(connection.execute(text(of_account), {"name": account}).scalar_one())
    return {"ACCOUNT": account, "OTHER": f"other {tag}", "KEY": key, "PERSON": person, "NEW": f"new-{person}"}


def test_without_output_nothing_is_changed(
    engine: Engine, process: Process, run: Callable[..., Result], names: dict[str, str]
) -> None:
    changes = [[names.get(word, word) for word in change] for change in CHANGES]
    before = state(engine)
    for change in changes:
        result = process(*change, to="> /dev/full")
        expected = "Error: Standard output cannot be written: No space left on device. Nothing was changed.\n"
        assert (result.returncode, result.stderr) == (1, expected), change
        assert state(engine) == before, change
    for change in changes:
        run(*change)
        assert state(engine) != before, change
        before = state(engine)


def test_if_nobody_reads_the_output_nothing_is_changed(engine: Engine, process: Process, names: dict[str, str]) -> None:
    before = state(engine)
    refused = "Error: Standard output cannot be written: nobody reads it. Nothing was changed.\n"
    for command, said in (
        (("key", "create", names["ACCOUNT"]), refused),
        (("account", "topup", names["ACCOUNT"], "5", "--reason", "x"), refused),
        (("account", "list"), ""),
    ):
        nobody, out = os.pipe()
        os.close(nobody)
        result = process(*command, out=out)
        os.close(out)
        assert (state(engine), result.stderr) == (before, said), command


def test_a_closed_output_is_refused_before_the_command(engine: Engine, process: Process, names: dict[str, str]) -> None:
    before, account = state(engine), names["ACCOUNT"]
    for command in (
        ("account", "list"),
        ("account", "topup", account, "5", "--reason", "x"),
        ("key", "create", account),
    ):
        result = process(*command, to=">&-")
        assert result.returncode == 1 and state(engine) == before
        assert result.stderr == (
            "Error: Standard output is closed. Nothing was done. Discard it with > /dev/null.\n"
        ), command
