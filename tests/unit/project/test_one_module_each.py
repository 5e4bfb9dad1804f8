"""The ledger and the states of batches and sends are each written by one module."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import shared.ids
from tests.harness.syntax_trees import syntax_tree

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms")
SET = re.compile(r"UPDATE\s+(\w+)(?:\s+\w)?\s+SET\s+(.*?)(?=\s(?:FROM|WHERE)\s|$)", re.DOTALL)


@cache
def statements() -> list[tuple[str, str]]:
    """Every string of the code but migrations, with the file's path. Of an f-string the literal parts."""
    found = []
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "versions" in path.parts:
                continue
            for node in ast.walk(syntax_tree(path)):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
                    found.append((str(path.relative_to(ROOT)), "".join(map(str, parts))))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append((str(path.relative_to(ROOT)), node.value))
    return found


def modules() -> dict[str, ast.Module]:
    """The code but migrations, by the files' paths."""
    return {
        str(path.relative_to(ROOT)): syntax_tree(path)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "versions" not in path.parts
    }


WRITES = ("insert", "update", "delete")


def files_that_set(table: str, column: str) -> set[str]:
    assigned = re.compile(rf"(?<![\w.]){column}\s*=")
    return {
        path
        for path, statement in statements()
        for name, assignments in SET.findall(statement)
        if name == table and assigned.search(re.sub(r"\bCASE\b.*?\bEND\b", "", assignments, flags=re.DOTALL))
    }


def module_constants(module: ast.Module) -> dict[str, ast.expr]:
    assignments = (node for node in module.body if isinstance(node, ast.Assign) and len(node.targets) == 1)
    return {node.targets[0].id: node.value for node in assignments if isinstance(node.targets[0], ast.Name)}


def written_table(node: ast.expr, constants: dict[str, ast.expr], verb: str) -> str | None:
    """The table of `update(table)`, as of another verb, at the beginning of a chain of calls."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == verb:
            return ast.unparse(node.args[0]).rpartition(".")[2]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Name) and node.id in constants:
            node = constants.pop(node.id)
        else:
            return None


def columns_set(call: ast.Call) -> set[str]:
    """The columns that `values(…)` sets, as far as the code names them."""
    dicts = [argument for argument in call.args if isinstance(argument, ast.Dict)]
    keys = {ast.unparse(key).strip("'").rpartition(".")[2] for each in dicts for key in each.keys if key is not None}
    return keys | {keyword.arg for keyword in call.keywords if keyword.arg is not None}


def files_whose_tables_set(table: str, column: str, modules: dict[str, ast.Module]) -> set[str]:
    """Like `files_that_set`, for statements that are written with the tables."""
    return {
        path
        for path, module in modules.items()
        for call in ast.walk(module)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "values"
        if column in columns_set(call)
        if written_table(call.func.value, module_constants(module), "update") == table
    }


@pytest.mark.parametrize(
    ("source", "sets"),
    [
        ("A = update(send).where(x).values(state=1)", True),
        ("A = update(tables.send).values({tables.send.c.state: 1})", True),
        ("A = update(send)\nB = A.where(x).values({'state': 1})", True),
        ("A = update(send).values(rate=1)", False),
        ("A = update(batch).values(state=1)", False),
        ("A = insert(send).values(state=1)", False),
    ],
)
def test_a_column_that_is_set_is_found(source: str, sets: bool) -> None:
    assert bool(files_whose_tables_set("send", "state", {"a.py": ast.parse(source)})) is sets


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
    assert files_that_set(table, column) | files_whose_tables_set(table, column, modules()) == {file}


def test_only_the_ledger_writes_entries() -> None:
    writers = {path for path, statement in statements() if re.search(r"INSERT\s+INTO\s+ledger\b", statement)}
    with_table = {
        path
        for path, module in modules().items()
        for call in ast.walk(module)
        if isinstance(call, ast.Call) and any(written_table(call, {}, verb) == "ledger" for verb in WRITES)
    }
    assert writers | with_table == {"shared/ledger/ledger.py"}


def test_no_statement_deletes_or_changes_an_entry() -> None:
    assert [path for path, sql in statements() if re.search(r"(UPDATE\s+|DELETE\s+FROM\s+)ledger\b", sql)] == []
