"""Frameworks are used by what they document: no private name of theirs is imported, read or overridden."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import shared.ids
from tests.harness.syntax_trees import syntax_tree

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms", "console")
UNDOCUMENTED_MODULES = ("flask.sansio", "uvicorn.protocols", "uvicorn.supervisors")
UNAVOIDABLE = {
    "api/server/process.py": {"uvicorn.supervisors", "uvicorn.supervisors.Multiprocess"},
    "api/server/protocol.py": {
        "uvicorn.protocols.http.httptools_impl",
        "uvicorn.protocols.http.httptools_impl.HttpToolsProtocol",
    },
}
"""uvicorn documents no way to give each process a socket, or to tell trailers from headers. pyproject.toml pins its
exact version, and tests/services/server and tests/unit/server hold what these two files rely on."""
DOCUMENTED_NAMES = {"_asdict", "_exit", "_fields", "_make", "_mapping", "_replace"}
"""Names with an underscore that are public all the same: of named tuples, of SQLAlchemy's rows, and of `os`."""


def files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in DOCUMENTED_NAMES


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a module gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


@cache
def defined_anywhere() -> set[str]:
    """The names that the code gives to something."""
    return {name for path in files() for name in defined(syntax_tree(path))}


def private_names(tree: ast.AST, ours: set[str]) -> list[str]:
    """Private names of others that a module imports or reads.

    A module's own names are those that it defines; of `self` and `cls` they may also be those of a base class of ours.
    """
    found = []
    own = set(defined(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            inherited = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and node.attr in ours
            if node.attr not in own and not inherited:
                found.append(node.attr)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and is_private(str(name.value)):
                found.append(str(name.value))
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for module in modules:
            if module.partition(".")[0] in PACKAGES:
                continue
            if module.startswith(UNDOCUMENTED_MODULES) or any(map(is_private, module.split("."))):
                found.append(module)
    return found


def test_no_private_name_is_imported_or_read() -> None:
    for path in files():
        name = str(path.relative_to(ROOT))
        assert set(private_names(syntax_tree(path), defined_anywhere())) == UNAVOIDABLE.get(name, set()), name
