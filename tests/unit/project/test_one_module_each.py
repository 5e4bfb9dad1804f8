"""The ledger and the states of batches and sends are each written by one module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import shared.ids

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms")
SET = re.compile(r"UPDATE\s+(\w+)(?:\s+\w)?\s+SET\s+(.*?)(?=\s(?:FROM|WHERE)\s|$)", re.DOTALL)


def statements() -> Iterator[tuple[str, str]]:
    """Every string of the code but migrations, with the file's path. Of an f-string the literal parts."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "versions" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
                    yield str(path.relative_to(ROOT)), "".join(map(str, parts))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield str(path.relative_to(ROOT)), node.value


STATEMENTS = list(statements())


def files_that_set(table: str, column: str) -> set[str]:
    assigned = re.compile(rf"(?<![\w.]){column}\s*=")
    return {
        path
        for path, statement in STATEMENTS
        for name, assignments in SET.findall(statement)
        if name == table and assigned.search(re.sub(r"\bCASE\b.*?\bEND\b", "", assignments, flags=re.DOTALL))
    }


@pytest.mark.parametrize(
    ("table", "column", "file"),
    [
        ("batch", "state", "shared/sends/batch_states.py"),
        ("send", "state", "shared/sends/send_states.py"),
        ("account", "available", "shared/ledger/ledger.py"),
        ("account", "reserved", "shared/ledger/ledger.py"),
    ],
)
def test_a_column_is_set_in_one_module(table: str, column: str, file: str) -> None:
    assert files_that_set(table, column) == {file}


def test_only_the_ledger_writes_entries() -> None:
    writers = {path for path, statement in STATEMENTS if re.search(r"INSERT\s+INTO\s+ledger\b", statement)}
    assert writers == {"shared/ledger/ledger.py"}


def test_no_statement_deletes_or_changes_an_entry() -> None:
    assert [path for path, sql in STATEMENTS if re.search(r"(UPDATE\s+|DELETE\s+FROM\s+)ledger\b", sql)] == []
