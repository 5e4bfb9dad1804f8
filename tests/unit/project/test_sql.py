"""Statements are written with the tables. SQL as text is in constants, each with a docstring that says why."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import shared.ids

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms")
WITHOUT = ("shared/db/migrations/", "shared/db/tables/")
"""Migrations, which are not changed any more, and defaults of columns and conditions of indexes."""
MADE_IN_FUNCTIONS = {
    "bulksms/local/postgres.py": 3,
    "shared/archive/copy.py": 2,
    "shared/archive/restore.py": 2,
    "shared/archive/weeks.py": 1,
    "shared/audit/check.py": 2,
    "shared/db/concurrent_index.py": 4,
    "shared/db/connection.py": 2,
    "shared/db/partitions.py": 6,
    "worker/sweeper.py": 1,
}
"""Statements that name a table or limits of the code's own, and so are made when they run. `transaction` explains its
own."""
BEGINNING = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|COPY|SET|LOCK|CREATE|ALTER|DROP)\s")
"""How a string begins that is a statement, whoever is given it: SQLAlchemy or the driver."""


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "text"


def uses_text(module: ast.Module) -> bool:
    """Whether `text` is SQLAlchemy's here."""
    imports = (node for node in module.body if isinstance(node, ast.ImportFrom) and node.module == "sqlalchemy")
    return any(alias.name == "text" for node in imports for alias in node.names)


def is_statement(node: ast.AST) -> bool:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    first = parts[0] if parts else None
    return isinstance(first, ast.Constant) and isinstance(first.value, str) and bool(BEGINNING.match(first.value))


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def documented(module: ast.Module) -> Iterator[ast.AST]:
    """The assignments of a module that a docstring follows, and those of the strings that these are made of."""
    assignments = [node for node in module.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    waiting: list[ast.AST] = [node for node, following in pairwise(module.body) if is_docstring(following)]
    while waiting:
        statement = waiting.pop()
        if statement in assignments:
            assignments.remove(statement)
            yield statement
            used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            waiting += [each for each in assignments if used & {ast.unparse(target) for target in targets(each)}]


def targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def statements(node: ast.AST, texts: bool) -> Iterator[ast.AST]:
    """The statements that are text: one in `text(…)` counts once, and so does one of several parts."""
    if isinstance(node, ast.Expr) and is_docstring(node):
        return
    if is_statement(node) or (texts and is_text(node)):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from statements(child, texts)


def undocumented(module: ast.Module) -> int:
    """How many statements of a module are text, and not in a constant with a docstring."""
    constants = {id(node) for statement in documented(module) for node in ast.walk(statement)}
    return sum(id(node) not in constants for node in statements(module, uses_text(module)))


def found() -> Counter[str]:
    """The number of undocumented statements in each file that has any."""
    count: Counter[str] = Counter()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(WITHOUT):
                count[name] = undocumented(ast.parse(path.read_text()))
    return +count


def test_statements_of_text_are_constants_with_a_docstring() -> None:
    assert found() == Counter(MADE_IN_FUNCTIONS)


def test_only_the_ledger_writes_entries() -> None:
    writes = re.compile(r"(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+ledger\b|\b(insert|update|delete)\((\w+\.)?ledger\)")
    found = {
        (path.relative_to(ROOT).as_posix(), each.group(0).split()[0].partition("(")[0].upper())
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "versions" not in path.parts
        for each in writes.finditer(path.read_text())
    }
    assert found == {("shared/ledger/ledger.py", "INSERT")}
