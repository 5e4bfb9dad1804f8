"""What must stay true of the code itself, whoever changes it: who may import whom, what is never used, what fits."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from celery import Celery
from flask import Flask
from werkzeug.test import TestResponse

import shared.task_queue
from api.app import create_app
from api.auth.tokens import BEARER
from api.endpoint import ENDPOINTS, OPERATORS, PREFIX
from api.server.thread_pools import PASSWORDS
from bulksms.local import services
from shared.settings import Settings
from tests.harness.authorization import CUSTOMERS as CUSTOMER_ROUTES
from tests.harness.authorization import OPERATORS as OPERATOR_ROUTES
from tests.harness.owned import OF_A_PERSON, OF_NO_ACCOUNT, OWNED
from tests.harness.syntax_trees import syntax_tree
from worker.tasks import register

ROOT = Path(shared.task_queue.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms", "console")
MAY_IMPORT = {
    "api": {"api", "shared"},
    "worker": {"worker", "shared"},
    "shared": {"shared"},
    "bulksms": {"api", "worker", "shared", "bulksms"},
    "console": {"console", "shared"},
}
ALL = [*ENDPOINTS, *OPERATORS.operations]
OPEN_TO_ALL = {each.name for each in (*CUSTOMER_ROUTES.values(), *OPERATOR_ROUTES.values()) if each.scopes == ("open",)}
MAX_LINES = 300
MAX_FUNCTION_LINES = 60


def files(*packages: str) -> list[Path]:
    """The Python files of the packages."""
    found = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(found) > len(packages)
    return found


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            assert node.module is not None
            yield node.module


def functions(module: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


@pytest.fixture(scope="module")
def app() -> Flask:
    """The application without a database: whoever asks for one gets a 503."""
    return create_app(
        Settings(
            database_url="postgresql+psycopg://nobody@127.0.0.1:1/none",
            redis_url="redis://127.0.0.1:1",
            broker_url="memory://",
            secret_key="x" * 40,
        )
    )


def call(app: Flask, method: str, path: str, **more: Any) -> TestResponse:
    """A request without a token, its variables filled in."""
    path = re.sub(r"<int:\w+>", "1", re.sub(r"<uuid:\w+>", str(UUID(int=0)), path))
    return app.test_client().open(re.sub(r"<\w+>", "x", path), method=method, **more)


def test_imports_go_one_way() -> None:
    for path in files(*PACKAGES):
        ours = {module.partition(".")[0] for module in imported(syntax_tree(path))} & {*PACKAGES, "tests", "bench"}
        assert ours <= MAY_IMPORT[name(path).partition("/")[0]], name(path)


def test_the_console_knows_the_service_by_its_api_only() -> None:
    modules = {module for path in files("console") for module in imported(syntax_tree(path))}
    assert {module for module in modules if module.startswith("shared")} == {
        "shared.address_block",
        "shared.carriers.error_catalogue",
        "shared.contacts.charsets",
        "shared.contacts.columns",
        "shared.contacts.formulas",
        "shared.contacts.phone_cells",
        "shared.contacts.rows",
        "shared.contacts.text_stream",
        "shared.environment",
        "shared.lifecycle",
        "shared.observability.logs",
        "shared.observability.metrics",
        "shared.priority",
        "shared.unit",
        "shared.sms.numbering",
        "shared.sms.phones",
        "shared.sms.spellings",
        "shared.sms.written",
    }
    assert {module.partition(".")[0] for module in modules} & {"sqlalchemy", "psycopg", "redis", "celery"} == set()


FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "telnetlib", "xmlrpc"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "mktemp"}


def dangers(module: ast.Module) -> Iterator[str]:
    """What a module does that may execute its input, or trust a stranger."""
    yield from sorted({each.partition(".")[0] for each in imported(module)} & FORBIDDEN_MODULES)
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        called = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        on = function.value if isinstance(function, ast.Attribute) else None
        ours = called == "compile" and isinstance(on, ast.Name) and on.id == "re"
        if called in FORBIDDEN_CALLS and not ours:
            yield f"{called} in line {node.lineno}"
        for keyword in node.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg == "shell" and value:
                yield f"a shell in line {node.lineno}"
            if keyword.arg == "verify" and value is False:
                yield f"no certificate in line {node.lineno}"


def test_nothing_executes_its_input() -> None:
    assert list(dangers(ast.parse("import pickle\neval(x)\nrun(x, shell=True)"))) == [
        "pickle",
        "eval in line 2",
        "a shell in line 3",
    ]
    assert [f"{name(path)}: {each}" for path in files(*PACKAGES) for each in dangers(syntax_tree(path))] == []


def test_files_and_functions_are_short_enough() -> None:
    for path in files(*PACKAGES):
        if "migrations/versions" not in name(path):
            assert len(path.read_text().splitlines()) <= MAX_LINES, name(path)
        for function in functions(syntax_tree(path)):
            length = (function.end_lineno or 0) - function.lineno
            assert length < MAX_FUNCTION_LINES, f"{name(path)}: {function.name}"


def undocumented(node: ast.AST, prefix: str = "") -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not child.name.startswith("_"):
            if child.name != "Meta" and not ast.get_docstring(child):
                yield prefix + child.name
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{child.name}.")


def test_everything_public_has_a_docstring() -> None:
    for path in files("api", "worker", "shared", "console"):
        module = syntax_tree(path)
        if "migrations/versions" not in name(path):
            assert ast.get_docstring(module) or not path.read_text().strip(), name(path)
            assert list(undocumented(module)) == [], name(path)


PRODUCT = [
    path
    for pattern in ("*.md", "*.yml", "*.toml", "Dockerfile", "Makefile", "Procfile", ".env.example", "docs/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]
OF_SOMEBODYS_MACHINE = re.compile(
    r"(?<![\w.}>)-])/(?:tmp|work|root|home|Users)/|\bTODO\b|\bFIXME\b|\bXXX\b|\b(?:issue|PR|ticket) ?#?\d+", re.ASCII
)


def test_no_leftovers_of_development_remain() -> None:
    for path in [*files(*PACKAGES), *PRODUCT]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert not OF_SOMEBODYS_MACHINE.search(line), f"{name(path)}, line {number}: {line.strip()}"


def consumed(command: str) -> set[str]:
    """The queues that a worker's command line names."""
    return {queue for names in re.findall(r"-Q[ =](\S+)", command) for queue in names.strip("\"'").split(",")}


def test_every_queue_has_a_worker() -> None:
    queues = {value for key, value in vars(shared.task_queue).items() if key.isupper() and "QUEUE" in key}
    assert shared.task_queue.QUEUE in queues
    command = services.worker(1, {"BROKER_URL": "redis://127.0.0.1:1"}, ROOT, ROOT).command
    compose = re.sub(r"[\[\],] ?", " ", (ROOT / "docker-compose.yml").read_text())
    for command_text in ((ROOT / "Procfile").read_text(), compose, " ".join(command)):
        assert consumed(command_text) == queues


def test_the_task_that_is_published_is_registered() -> None:
    celery = Celery()
    register(celery, lambda: 0)
    assert shared.task_queue.SEND_BATCH in celery.tasks


def test_a_broker_gets_nothing_but_json() -> None:
    celery = shared.task_queue.make_celery(
        Settings(database_url="x", redis_url="x", broker_url="memory://", secret_key="x" * 40)
    )
    assert celery.conf.accept_content == ["json"]
    assert celery.conf.task_serializer == "json"
    assert not celery.conf.task_acks_late


def test_the_tables_of_who_may_use_a_route_have_every_route() -> None:
    for api, table in ((ENDPOINTS, CUSTOMER_ROUTES), (OPERATORS.operations, OPERATOR_ROUTES)):
        assert sorted(f"{each.method} {each.path}" for each in api) == sorted(table)


def test_every_route_asks_for_a_token(app: Flask) -> None:
    without: list[dict[str, Any]] = [
        {},
        {"json": {}},
        {"data": b"x" * 100},
        {"headers": {"Authorization": "Basic eDp4"}},
    ]
    for endpoint in ALL:
        route = f"{endpoint.method} {endpoint.api.prefix}{endpoint.path}"
        if f"{endpoint.method} {endpoint.path}" in OPEN_TO_ALL:
            assert endpoint.scope is None and not endpoint.session, route
            continue
        assert (endpoint.scope is None) == endpoint.session, route
        for more in without:
            response = call(app, endpoint.method, endpoint.api.prefix + endpoint.path, **more)
            assert response.status_code == 401, route
            assert response.headers["WWW-Authenticate"] == BEARER["WWW-Authenticate"], route
            assert response.json["code"] == "missing_token", route


def test_every_object_of_a_path_is_tested_with_two_accounts() -> None:
    variables = {name for endpoint in ENDPOINTS for name in re.findall(r"<(?:\w+:)?(\w+)>", endpoint.path)}
    named = set(OWNED) | set(OF_NO_ACCOUNT) | OF_A_PERSON
    assert variables <= named and set(OWNED) <= variables, "tests/harness/owned.py says how one of each is made"


def test_passwords_are_hashed_in_threads_of_their_own() -> None:
    """Guessing must not take the threads of others."""
    hashing = {PREFIX + each.path for each in ENDPOINTS if each.body and "password" in each.body().fields}
    assert hashing == PASSWORDS


STATUSES = {
    ("GET", "/healthz"): 200,
    ("GET", "/readyz"): 503,
    ("GET", "/openapi.json"): 200,
    ("GET", "/docs"): 302,
    ("GET", "/reference"): 200,
    ("GET", "/reference/nothing.js"): 404,
    ("GET", "/docs/nothing.js"): 404,
    ("GET", "/nothing"): 404,
    ("PUT", f"{PREFIX}/sms/send"): 405,
    ("POST", f"{PREFIX}/auth/token"): 415,
    ("GET", f"{PREFIX}/errors/low_balance"): 200,
    ("GET", f"{PREFIX}/errors/nothing"): 404,
    ("GET", "/operator/openapi.json"): 200,
    ("GET", "/operator/reference"): 200,
}


def test_every_response_has_the_limits_and_its_id(app: Flask) -> None:
    for method, path in [*STATUSES, *((each.method, each.api.prefix + each.path) for each in ALL)]:
        response = call(app, method, path, data=b"x" if method == "POST" else None, headers={"X-Request-Id": "mine"})
        response.close()
        route = f"{method} {path}"
        assert response.status_code == STATUSES.get((method, path), response.status_code), route
        assert re.fullmatch(r'"\w+";q=\d+;w=\d+', response.headers["RateLimit-Policy"]), route
        assert re.fullmatch(r'"\w+";r=\d+;t=\d+', response.headers["RateLimit"]), route
        assert response.headers["X-Request-Id"] == "mine", route
        assert response.headers["X-Content-Type-Options"] == "nosniff", route
        if response.status_code >= 400 and path != "/readyz":
            assert response.headers["Content-Type"] == "application/problem+json", route
            assert response.json["request_id"] == "mine", route


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-run.lock", "requirements-server.lock", "requirements-docs.lock"]
)
def test_every_installed_package_is_pinned_to_its_hash(lock: str) -> None:
    pinned = re.split(r"\n(?=[a-z0-9])", (ROOT / lock).read_text().strip())
    assert len(pinned) > 20
    for each in pinned:
        assert re.match(r"[\w.-]+(\[[\w,]+\])?==\S+", each) and "--hash=sha256:" in each, each.splitlines()[0]
    assert "--require-hashes" in (ROOT / "Makefile").read_text()
