"""Finds the conditions in the source that name the account or the person."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKED = ("api", "shared", "console")
"""The packages that check what callers ask for."""
OWNER = ("account_id", "person_id")
IN_SQL = re.compile(r"(?:\b\w+\.)?\b(?:account_id|person_id) = (?::\w+|\{account\})")


class Place(NamedTuple):
    """Some text of a file, by its offsets."""

    file: str
    start: int
    end: int


class Condition(NamedTuple):
    """A condition of a query that names the account or the person, and what it is part of."""

    place: Place
    name: str
    is_sql: bool


class Source:
    """A parsed file."""

    def __init__(self, root: Path, file: str) -> None:
        self.file, self.text = file, (root / file).read_text()
        self.tree = ast.parse(self.text)
        self._bytes = [line.encode() for line in self.text.splitlines(keepends=True)]
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """The offset of a position as ast gives it: columns count bytes."""
        return self._starts[line - 1] + len(self._bytes[line - 1][:column].decode())

    def place(self, node: ast.expr) -> Place:
        """Where an expression is."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.offset(node.lineno, node.col_offset)
        return Place(self.file, start, self.offset(node.end_lineno, node.end_col_offset))

    def name_at(self, offset: int) -> str:
        """The function or constant that an offset is in."""
        line = self.text.count("\n", 0, offset) + 1
        for node in self.tree.body:
            assert node.end_lineno is not None
            if node.lineno <= line <= node.end_lineno:
                return _name(node)
        return ""


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return next(iter(_constants(node)), "")


def _constants(node: ast.stmt) -> list[str]:
    """The names that an assignment gives."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [each.id for each in names if isinstance(each, ast.Name)]


def sources(root: Path, packages: tuple[str, ...] = CHECKED) -> Iterator[Source]:
    """The files of the packages."""
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            if not file.startswith("shared/db/migrations/"):
                yield Source(root, file)


def conditions(source: Source) -> Iterator[Condition]:
    """The conditions of a file's queries that compare the account or the person with a value."""
    for node in ast.walk(source.tree):
        if is_condition(node):
            place = source.place(node)
            yield Condition(place, source.name_at(place.start), False)
    for found in IN_SQL.finditer(source.text):
        place = Place(source.file, *found.span())
        yield Condition(place, source.name_at(place.start), True)


def is_condition(node: ast.AST) -> bool:
    """Whether an expression is `table.c.account_id == value`, or `.in_(values)`; not a join with another column."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return _is_column(node.left) and not _is_column(node.comparators[0], *OWNER, "id")
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "in_" and _is_column(called.value)


def _is_column(node: ast.expr, *names: str) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr not in (names or OWNER):
        return False
    of = node.value
    return (isinstance(of, ast.Attribute) and of.attr == "c") or (isinstance(of, ast.Name) and of.id.isupper())
