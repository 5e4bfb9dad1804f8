"""Finds the checks in the source: conditions that name the account, and uses of bounds."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

CHECKED = ("api", "shared", "console")
"""The packages that check what callers ask for."""
SHOWN = ("api/openapi/", "api/resources/limits/", "shared/db/migrations/")
"""Where bounds are documented, not enforced."""
LIMITS = "api/resources/limits/bounds.py"
BOUND = re.compile(r"_?(MAX|MOST|LARGE|EXPORTS|WORKED_ON)_\w+|\w+_(PER_SECOND|PER_REQUEST|BODY)")
OWNER = ("account_id", "person_id")
IN_SQL = re.compile(r"(?:\b\w+\.)?\b(?:account_id|person_id) = (?::\w+|\{account\})")
TOLD_AS = ("maxLength", "minLength")
"""Keywords of JSON Schema, which only describe."""


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


class Use(NamedTuple):
    """A use of a bound where it may be enforced, and the file that defines it."""

    place: Place
    bound: str
    name: str


class Source:
    """A parsed file."""

    def __init__(self, root: Path, file: str) -> None:
        self.file, self.text = file, (root / file).read_text()
        self.tree = ast.parse(self.text)
        self._bytes = [line.encode() for line in self.text.splitlines(keepends=True)]
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def offset(self, line: int, column: int) -> int:
        """The offset of a position as ast gives it: columns count bytes."""
        return self._starts[line - 1] + len(self._bytes[line - 1][:column].decode())

    def place(self, node: ast.expr) -> Place:
        """Where an expression is."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.offset(node.lineno, node.col_offset)
        return Place(self.file, start, self.offset(node.end_lineno, node.end_col_offset))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What an expression is part of, from the inside."""
        while node in self.parents:
            node = self.parents[node]
            yield node

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


@cache
def parsed(root: Path, file: str) -> Source:
    """A file, parsed once."""
    return Source(root, file)


def sources(root: Path, packages: tuple[str, ...] = CHECKED) -> Iterator[Source]:
    """The files of the packages."""
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            if not file.startswith("shared/db/migrations/"):
                yield parsed(root, file)


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


def bounds(root: Path) -> dict[tuple[str, str], str]:
    """What a file calls a bound, by file and name: `file NAME` of where it is defined."""
    everything = list(sources(root))
    documented = _told_by_limits(next(each for each in everything if each.file == LIMITS))
    defined = {
        (source.file, name)
        for source in everything
        for node in source.tree.body
        for name in _constants(node)
        if BOUND.fullmatch(name) or (source.file, name) in documented
    }
    known = {each: " ".join(each) for each in defined}
    for source in everything:
        for node in source.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                file = f"{node.module.replace('.', '/')}.py"
                for each in node.names:
                    if (file, each.name) in defined:
                        known[source.file, each.asname or each.name] = f"{file} {each.name}"
                    inner = f"{node.module.replace('.', '/')}/{each.name}.py"
                    for defining, name in defined:
                        if defining == inner:
                            known[source.file, f"{each.asname or each.name}.{name}"] = f"{inner} {name}"
    return known


def _told_by_limits(source: Source) -> set[tuple[str, str]]:
    """The constants that `GET /limits` tells."""
    imported = {
        each.name: f"{node.module.replace('.', '/')}.py"
        for node in source.tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
        if each.name.isupper()
    }
    named = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    return {(imported[name], name) for name in named if name in imported}


def uses(source: Source, known: dict[tuple[str, str], str]) -> Iterator[Use]:
    """The uses of bounds in a file, but for texts and descriptions."""
    if source.file.startswith(SHOWN):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            bound = known.get((source.file, ast.unparse(node)))
            if bound is not None and not any(_only_tells(each) for each in source.above(node)):
                place = source.place(node)
                yield Use(place, bound, source.name_at(place.start))


def _only_tells(node: ast.AST) -> bool:
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name) and node.target.id == "json_schema"
    if isinstance(node, ast.keyword):
        return node.arg in TOLD_AS
    is_cast = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"
    return is_cast or isinstance(node, ast.JoinedStr)
