"""A fact is a constant of one module: no two modules define the same name with the same value."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import shared.ids

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms", "console")
ALLOWED = {
    "CHECK_SECONDS": "how often two background jobs look for work; neither follows the other",
    "DELIVERY_STATES": "the console knows the service by its API only; tests/unit/console/test_choices.py compares",
    "BLOCK": "how much two readers of files read at a time",
    "THREADS": "of the console, and of sends that are committed",
    "VALID": "how long a quote and a link to sign in are valid",
    "QUEUE": "the Celery queue of `celery -Q`, as in Procfile: `bulksms up` starts workers, and does not import Celery",
}


def constants(source: str) -> Iterator[tuple[str, str]]:
    """The module's constants with their values: numbers above 9 or with a fraction, strings, tuples of strings, SQL,
    spans of time and patterns."""
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and not target.id.startswith("__") and value is not None and is_fact(value):
            yield target.id, ast.dump(value)


def is_fact(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float() as number):
            return number > 9 or number != int(number)
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.Tuple(elts=elements):
            return bool(elements) and all(isinstance(each, ast.Constant) and is_fact(each) for each in elements)
        case ast.Call(func=ast.Name(id="text" | "timedelta") | ast.Attribute(attr="compile")):
            return True
        case _:
            return isinstance(value, ast.BinOp) and all(isinstance(x, ast.Constant) for x in (value.left, value.right))


def test_it_works() -> None:
    lines = (
        "A = 1_000",
        'B: Final = "x"',
        'C = text("SELECT 1")',
        "D = 9",
        "E = True",
        "F = g(10)",
        'G = ("a", "b")',
        "H = 0.5",
        "I = timedelta(hours=1)",
    )
    found = dict(constants("\n".join(lines)))
    assert set(found) == {"A", "B", "C", "G", "H", "I"}
    assert found["A"] == dict(constants("A = 1000"))["A"]


def test_no_constant_is_defined_twice() -> None:
    where: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "versions" not in path.parts:
                for constant in constants(path.read_text()):
                    where[constant].append(str(path.relative_to(ROOT)))
    twice = {name: modules for (name, _), modules in where.items() if len(modules) > 1}
    assert {name: modules for name, modules in twice.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) <= set(twice), "remove what is no longer needed"
