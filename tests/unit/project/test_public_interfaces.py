"""Frameworks are used by what they document: no private name of theirs is imported, read or overridden."""

import ast
import importlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from werkzeug.routing import Rule

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
DOCUMENTED_OVERRIDES = {
    "aiohttp.abc": {"close", "resolve"},
    "bulksms_client.transport": {"request", "upload"},
    "celery.app.events": {"dispatcher_cls"},
    "celery.events.dispatcher": {"flush", "send"},
    "celery.worker.consumer.consumer": {"on_connection_error_after_connected", "on_connection_error_before_connected"},
    "click.core": {"format_commands", "get_command", "invoke", "list_commands"},
    "click.types": {"convert", "name"},
    "flask.sessions": {"open_session"},
    "marshmallow.fields": {"_deserialize", "_serialize", "default_error_messages"},
    "marshmallow.schema": {"Meta", "error_messages", "load"},
    "prometheus_client.registry": {"collect"},
    "rich.console": {"on_broken_pipe"},
    "uvicorn.protocols.http.httptools_impl": {
        *("connection_made", "on_headers_complete", "on_message_complete"),  # as asyncio and httptools document them
        *("on_response_complete", "send_400_response"),
    },
    "sqlalchemy.pool.base": {"connect"},
    "sqlalchemy.pool.impl": {"connect"},
    "werkzeug.routing.converters": {"regex", "to_python"},
}
"""What each framework says may be defined by whoever extends its classes."""
NOT_IMPORTED = (".__main__", "worker.app", ".env")
"""Modules that start something, and migrations."""


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


def test_it_finds_them() -> None:
    lines = (
        "from a._b import c",
        "import flask.sansio.app",
        "from d import _e",
        "x._f()",
        "self._ours",
        "app._ours",
        "y._asdict()",
        "getattr(z, '_g')",
        "self._own = app._own",
    )
    tree = ast.parse("\n".join(lines))
    expected = ["_f", "_g", "_ours", "a._b", "a._b.c", "d._e", "flask.sansio.app"]
    assert sorted(private_names(tree, {"_ours"})) == expected


def test_no_private_name_is_imported_or_read() -> None:
    for path in files():
        name = str(path.relative_to(ROOT))
        assert set(private_names(syntax_tree(path), defined_anywhere())) == UNAVOIDABLE.get(name, set()), name


def classes() -> Iterator[tuple[type, set[str]]]:
    """The classes of the code base, each with the names that its body defines."""
    for path, tree in ((path, syntax_tree(path)) for path in files()):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module.endswith(NOT_IMPORTED) or ".versions." in module:
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.bases:
                cls = getattr(importlib.import_module(module), node.name)
                yield cls, {name for each in node.body for name in defined_in_body(each)}


def defined_in_body(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def undocumented(cls: type, names: set[str]) -> Iterator[tuple[str, str]]:
    """What a class overrides of a framework's class that does not say that it may be."""
    for base in cls.__mro__[1:]:
        module = base.__module__
        top = module.partition(".")[0]
        if top in (*PACKAGES, "builtins") or (top in sys.stdlib_module_names and not module.startswith("asyncio")):
            continue
        documented = DOCUMENTED_OVERRIDES.get(module, set())
        if module.startswith("asyncio"):
            documented = {name for name in names if not name.startswith("_")}
        yield from (
            (cls.__qualname__, name)
            for name in sorted(names - documented)
            if name in vars(base) and not (name.startswith("__") and name.endswith("__"))
        )


def test_what_is_overridden_is_documented() -> None:
    found = [each for cls, names in classes() for each in undocumented(cls, names)]
    assert found == []


def test_it_finds_what_is_overridden() -> None:
    class Quick(Rule):
        pass

    assert list(undocumented(Quick, {"_compile_builder", "ours"})) == [(Quick.__qualname__, "_compile_builder")]
