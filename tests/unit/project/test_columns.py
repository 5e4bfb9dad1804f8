"""A statement names the columns that it returns: those of a table may change while a process has it prepared."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.unit.project.test_sql import PACKAGES, ROOT, WITHOUT, is_docstring

ALL = re.compile(r"(?:\b(?:SELECT(?:\s+DISTINCT)?|RETURNING)|,)\s+(?:(\w+)\.)?\*(?![\w(])")
SOURCE = r"(\w*)\((\d+)\)"
"""A function with its arguments, or a statement in parentheses."""


def outermost(sql: str) -> tuple[str, list[str]]:
    """The statement with a number for the content of each of its parentheses, and these contents."""
    flat, contents, depth = "", [""], 0
    for character in sql:
        depth -= character == ")"
        if depth > 0:
            contents[-1] += character
        else:
            flat += f"{len(contents) - 1})" if character == ")" else character
            contents += [""] if character == ")" else []
        depth += character == "("
    return flat, contents


def returns_all(sql: str) -> bool:
    """Whether a statement returns all columns of a table, or of something that it names."""
    flat, contents = outermost(sql)
    if re.search(r"\bINSERT\s+INTO\b", flat) and "RETURNING" not in flat:
        return False
    for alias in ALL.findall(flat):
        source = re.search(rf"{SOURCE}\s+(?:AS\s+)?{alias}\b" if alias else rf"\bFROM\s+{SOURCE}", flat)
        if source is None or (not source[1] and returns_all(contents[int(source[2])])):
            return True
    return False


def strings(node: ast.AST) -> Iterator[str]:
    """The strings of a module that may be statements, with an x for each value that is put in."""
    if isinstance(node, ast.Expr) and is_docstring(node):
        return
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from strings(child)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM send", True),
        ("SELECT s.*, (SELECT count(*) FROM batch) AS batches FROM send s", True),
        ("SELECT a, s.* FROM send s", True),
        ("WITH a AS (SELECT id FROM send) SELECT * FROM a", True),
        ("SELECT * FROM (SELECT * FROM send) AS s", True),
        ("SELECT b.id, s.* FROM (SELECT * FROM send) AS s JOIN batch b ON b.send_id = s.id", True),
        ("DELETE FROM send RETURNING *", True),
        ("INSERT INTO a SELECT * FROM b RETURNING *", True),
        ("INSERT INTO a SELECT * FROM b", False),
        ("WITH a AS (DELETE FROM b RETURNING *) SELECT id FROM a", False),
        ("SELECT count(*), a * b, c FROM send", False),
        ("SELECT * FROM (SELECT id FROM send) AS s", False),
        ("SELECT b.id, s.* FROM (SELECT id FROM send) s JOIN batch b ON b.send_id = s.id", False),
        ("SELECT * FROM unnest(x) AS u (id)", False),
    ],
)
def test_it_finds_them(sql: str, expected: bool) -> None:
    assert returns_all(sql) == expected


def test_no_statement_returns_all_columns() -> None:
    found = []
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(WITHOUT):
            found += [(name, sql) for sql in strings(ast.parse(path.read_text())) if returns_all(sql)]
    assert found == []
