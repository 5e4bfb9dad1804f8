"""Imports go one way: up the list of rooms in each package's README, and never in a circle."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import shared.ids
from tests.harness.syntax_trees import syntax_tree

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "console", "bulksms")
ALL = (*PACKAGES, "bench", "clients")
ENTRY = re.compile(r"^- ((?:`[\w./]+`(?:, )?)+):", re.MULTILINE)


def modules() -> dict[str, Path]:
    """All modules by their dotted names."""
    found = {}
    for package in ALL:
        for path in (ROOT / package).rglob("*.py"):
            if "versions" not in path.parts:
                found[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(module: str) -> Iterator[str]:
    """The modules of ours that a module needs before it can be used; those of its functions come later."""
    waiting: list[ast.AST] = [syntax_tree(MODULES[module])]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            waiting += ast.iter_child_nodes(node)


@cache
def all_imports() -> dict[str, set[str]]:
    """What each module imports of ours."""
    return {module: {each for each in imports(module) if each in MODULES and each != module} for module in MODULES}


def order(package: str) -> dict[str, int]:
    """The place of each room in the package's README: rooms of one line may not import each other's."""
    text = (ROOT / package / "README.md").read_text()
    entries = [re.findall(r"`([\w./]+)`", listed) for listed in ENTRY.findall(text)]
    flat = [name.removesuffix("/").removesuffix(".py") for names in entries for name in names]
    assert len(flat) == len(set(flat))
    return {name: place for place, name in enumerate(flat)}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_readme_lists_every_room(package: str) -> None:
    rooms = {room(module) for module in MODULES if module.startswith(f"{package}.")}
    assert rooms == order(package).keys()
    assert len((ROOT / package / "README.md").read_text().splitlines()) < 30


@pytest.mark.parametrize("package", PACKAGES)
def test_a_room_imports_only_from_the_rooms_above_it(package: str) -> None:
    place = order(package)
    wrong = [
        (module, other)
        for module, others in all_imports().items()
        for other in others
        if module.startswith(f"{package}.") and other.startswith(f"{package}.")
        if place[room(other)] > place[room(module)]
    ]
    assert wrong == []


def circle(start: str) -> list[str]:
    """A way from the module back to itself, or nothing."""
    ways = [[each] for each in all_imports()[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        if way[-1] == start:
            return way
        if way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, each] for each in all_imports()[way[-1]]]
    return []


def test_no_imports_go_in_a_circle() -> None:
    assert {module: way for module in MODULES if (way := circle(module))} == {}


def test_accepting_a_send_knows_nothing_of_http() -> None:
    """So that other protocols can lead to it."""
    needed, waiting = set[str](), ["api.accept.accept", "api.accept.create_quote"]
    while waiting:
        module = waiting.pop()
        needed.add(module)
        waiting += all_imports()[module] - needed
    assert "api.commit.group_commit" in needed
    assert [module for module in needed if module.startswith("api.http")] == []
    text = {module: MODULES[module].read_text() for module in needed}
    assert [module for module in needed if "import flask" in text[module] or "werkzeug" in text[module]] == []
