"""The ledger and the states of everything that has one are each written by one module."""

import ast
import re
from collections.abc import Iterator
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


@cache
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
    return {path for path, name, assignments in updates_as_text() if name == table and assigned.search(assignments)}


@cache
def updates_as_text() -> list[tuple[str, str, str]]:
    """The file, the table and the assignments of each UPDATE that is written as text."""
    return [
        (path, name, re.sub(r"\bCASE\b.*?\bEND\b", "", assignments, flags=re.DOTALL))
        for path, statement in statements()
        for name, assignments in SET.findall(statement)
    ]


def module_constants(module: ast.Module) -> dict[str, ast.expr]:
    assignments = (node for node in module.body if isinstance(node, ast.Assign) and len(node.targets) == 1)
    return {node.targets[0].id: node.value for node in assignments if isinstance(node.targets[0], ast.Name)}


def constants_in_reach(module: ast.Module, modules: dict[str, ast.Module]) -> dict[str, ast.expr]:
    """The constants that a module defines or imports from another of the modules, and those that these are made of."""
    found = module_constants(module)
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                whole = modules.get(f"{node.module}.{alias.name}".replace(".", "/") + ".py")
                source = whole or modules.get(node.module.replace(".", "/") + ".py")
                if source is not None and (whole is not None or alias.name in module_constants(source)):
                    found = module_constants(source) | found
    return found


def written_table(node: ast.expr, constants: dict[str, ast.expr], verb: str) -> str | None:
    """The table of `update(table)`, as of another verb, at the beginning of a chain of calls."""
    seen = set[str]()
    while True:
        name = ast.unparse(node).rpartition(".")[2] if isinstance(node, ast.Name | ast.Attribute) else ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == verb:
            return ast.unparse(node.args[0]).rpartition(".")[2]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif name in constants and name not in seen:
            seen.add(name)
            node = constants[name]
        else:
            return None


VERBS = {"values": "update", "on_conflict_do_update": "insert"}
ANY_COLUMN = "*"


def columns_set(call: ast.Call, module: ast.Module, constants: dict[str, ast.expr]) -> set[str]:
    """The columns that `values(…)` or `on_conflict_do_update(…, set_=…)` sets.

    Of a name, those that are strings in what the module assigns to it; any column, if it is a function's parameter.
    """
    is_conflict = isinstance(call.func, ast.Attribute) and call.func.attr == "on_conflict_do_update"
    given = [each.value for each in call.keywords if each.arg == "set_" or (each.arg is None and not is_conflict)]
    columns = set() if is_conflict else {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    for each in given if is_conflict else [*given, *call.args]:
        if isinstance(each, ast.Dict):
            columns |= {ast.unparse(key).strip("'").rpartition(".")[2] for key in each.keys if key is not None}
        elif isinstance(each, ast.Name):
            columns |= strings_assigned(each.id, module, constants) or {ANY_COLUMN}
    return columns


def strings_assigned(name: str, module: ast.Module, constants: dict[str, ast.expr]) -> set[str]:
    assigned = [node.value for node in ast.walk(module) if isinstance(node, ast.Assign) and name in targets(node)]
    values = [*assigned, *([constants[name]] if name in constants else [])]
    nodes = (node for value in values for node in ast.walk(value))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def targets(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def updates_with_tables(modules: dict[str, ast.Module]) -> Iterator[tuple[str, str | None, set[str]]]:
    """The file, the table and the columns of each update that is written with the tables."""
    for path, module in modules.items():
        calls = [call for call in ast.walk(module) if isinstance(call, ast.Call)]
        writing = [
            (call, call.func) for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in VERBS
        ]
        constants = constants_in_reach(module, modules) if writing else {}
        for call, method in writing:
            table = written_table(method.value, constants, VERBS[method.attr])
            yield path, table, columns_set(call, module, constants)


@cache
def updates_of_the_code() -> list[tuple[str, str | None, set[str]]]:
    return list(updates_with_tables(modules()))


def files_whose_tables_set(table: str, column: str) -> set[str]:
    return {path for path, name, columns in updates_of_the_code() if name == table and columns & {column, ANY_COLUMN}}


@pytest.mark.parametrize(
    ("source", "sets"),
    [
        ("A = update(send).where(x).values(state=1)", True),
        ("A = update(tables.send).values({tables.send.c.state: 1})", True),
        ("A = update(send)\nB = A.where(x).values({'state': 1})", True),
        ("A = update(send).values(rate=1)", False),
        ("A = update(batch).values(state=1)", False),
        ("A = insert(send).values(state=1)", False),
        ("A = insert(send)\nB = A.on_conflict_do_update(set_={'state': 1})", True),
        ("A = update(send)\ndef f(values): return A.values(values)", True),
        ("A = update(send)\ndef f(values): return A.values(rate=1, **values)", True),
        ("def f():\n    values = {'state': 1}\n    update(send).values(values)", True),
        ("VALUES = {'rate': 1}\nA = update(send).values(**VALUES)", False),
        ("from shared.b import A\nC = A.values(state=1)", True),
        ("from shared import b\nC = b.A.values(state=1)", True),
    ],
)
def test_a_column_that_is_set_is_found(source: str, sets: bool) -> None:
    modules = {"a.py": ast.parse(source), "shared/b.py": ast.parse("A = update(send)")}
    found = [columns for _, table, columns in updates_with_tables(modules) if table == "send"]
    assert any(columns & {"state", ANY_COLUMN} for columns in found) is sets


@pytest.mark.parametrize(
    ("table", "column", "file"),
    [
        ("batch", "state", "shared/sends/batch_states.py"),
        ("send", "state", "shared/sends/send_states.py"),
        ("account", "available", "shared/ledger/ledger.py"),
        ("account", "reserved", "shared/ledger/ledger.py"),
        ("account", "state", "shared/accounts/administration.py"),
        ("api_key", "revoked_at", "shared/accounts/administration.py"),
        ("operator_key", "revoked_at", "shared/accounts/operator_keys.py"),
        ("membership", "ended_at", "shared/people/memberships.py"),
        ("person_session", "ended_at", "shared/people/sessions.py"),
        ("sender_id", "state", "shared/senders/sender_ids.py"),
        ("contact_import", "state", "shared/contacts/imports.py"),
        ("webhook", "state", "shared/events/webhook_states.py"),
        ("delivery", "state", "shared/events/deliveries.py"),
        ("job_failure", "set_aside_at", "shared/job_failures.py"),
    ],
)
def test_a_column_is_set_in_one_module(table: str, column: str, file: str) -> None:
    assert files_that_set(table, column) | files_whose_tables_set(table, column) == {file}


def test_a_message_changes_its_status_by_receipts_or_when_its_doubt_is_resolved() -> None:
    """Two modules, because each statement also finds the messages that it may change; both take ALLOWED_TRANSITIONS."""
    files = files_that_set("message", "status") | files_whose_tables_set("message", "status")
    assert files == {"worker/receipts/match.py", "shared/doubts/resolution.py"}


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
