"""Statements are written with the tables. SQL as text is in constants, each with a docstring that says why."""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import shared.ids

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms")
WITHOUT = ("shared/db/migrations/", "shared/db/tables/")
"""Migrations, which are not changed any more, and defaults of columns and conditions of indexes."""
MADE_IN_FUNCTIONS = {
    "shared/audit/check.py": 2,
    "shared/db/concurrent_index.py": 4,
    "shared/db/partitions.py": 4,
    "worker/sweeper.py": 1,
}
"""Statements that name a table or limits of the code's own, and so are made when they run."""


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "text"


def uses_text(module: ast.Module) -> bool:
    """Whether `text` is SQLAlchemy's here."""
    imports = (node for node in module.body if isinstance(node, ast.ImportFrom) and node.module == "sqlalchemy")
    return any(alias.name == "text" for node in imports for alias in node.names)


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def documented(module: ast.Module) -> Iterator[ast.AST]:
    """The assignments of a module that a docstring follows."""
    for statement, following in pairwise(module.body):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and is_docstring(following):
            yield statement


def undocumented(module: ast.Module) -> int:
    """How many statements of a module are text, and not in a constant with a docstring."""
    if not uses_text(module):
        return 0
    constants = {id(node) for statement in documented(module) for node in ast.walk(statement)}
    return sum(is_text(node) and id(node) not in constants for node in ast.walk(module))


def found() -> Counter[str]:
    """The number of undocumented statements in each file that has any."""
    count: Counter[str] = Counter()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(WITHOUT):
                count[name] = undocumented(ast.parse(path.read_text()))
    return +count


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('A = text("SELECT 1")\n"""Why."""', 0),
        ('A, B = (text(each) for each in C)\n"""Why."""', 0),
        ('A = text("SELECT 1")', 1),
        ('A = text("SELECT 1")\nB = 1\n"""Of B."""', 1),
        ('A = text("SELECT 1")\n"""Why."""\nB = text("SELECT 2")', 1),
        ('def f(): g(text("SELECT 1"))', 1),
    ],
)
def test_it_counts(source: str, expected: int) -> None:
    assert undocumented(ast.parse(f"from sqlalchemy import text\n{source}")) == expected
    assert undocumented(ast.parse(source)) == 0


def test_statements_of_text_are_constants_with_a_docstring() -> None:
    assert found() == Counter(MADE_IN_FUNCTIONS)
