"""docker-compose.yml, the Dockerfile and nginx's configuration, as far as they can be judged without an engine."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.limits.bulkheads import CONNECTIONS_OF_ADDRESS
from api.problems import CATALOGUE
from console.app import create_app
from console.load.body_limits import LISTS
from console.settings import Settings
from shared.db.connection import CONNECT_SECONDS
from shared.observability.metrics import DIRECTORY
from shared.settings import from_environment
from tests.unit.project.test_readme import of_the_code
from worker.carrier_config.file import read_carriers

COMPOSE: dict[str, Any] = yaml.safe_load(Path("docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("migrate", "api", "worker", "webhooks", "smpp")
NGINX = Path("deploy/nginx.conf").read_text()
DOCUMENT = Path("docs/operating/deployment.md").read_text()
EXAMPLE = Path(".env.example").read_text()


def seconds(duration: str) -> int:
    """Of a duration such as 30s."""
    return int(duration.removesuffix("s"))


@pytest.mark.parametrize("name", OURS)
def test_every_setting_reaches_the_processes(name: str) -> None:
    service = SERVICES[name]
    assert service["env_file"] == ".env"
    overruled = set(service["environment"])
    documented = set(re.findall(r"`([A-Z_]+)`", DOCUMENT.split("Only these are set")[1].split("`deploy/config`")[0]))
    assert overruled == documented, "the page says which settings .env does not decide"
    assert overruled <= set(of_the_code()) | {DIRECTORY}


def test_the_example_of_carriers_can_be_used() -> None:
    carriers = read_carriers(Path("deploy/config/carriers.example.toml"), 15.0, None, {"MAIN_PASSWORD": "secret"})
    assert [carrier.name for carrier in carriers.carriers] == ["main"]


def test_the_example_starts_simulated_when_it_is_filled_in() -> None:
    values = dict(re.findall(r"^([A-Z_]+)=(.*)$", EXAMPLE, re.M))
    assert values["CARRIER"] == "simulator"
    filled = values | {"SECRET_KEY": "x" * 32, "DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x"}
    assert from_environment(filled).simulated
    interpolated = set(re.findall(r"\$\{([A-Z_]+)", Path("docker-compose.yml").read_text()))
    assert interpolated <= set(re.findall(r"^(?:# )?([A-Z_]+)=", EXAMPLE, re.M))


def test_a_worker_may_finish_its_window() -> None:
    lease = from_environment({"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x", "SECRET_KEY": "x" * 32}).lease
    assert seconds(SERVICES["worker"]["stop_grace_period"]) > lease + CONNECT_SECONDS


def test_nothing_is_published_to_the_world_by_default() -> None:
    for name, service in SERVICES.items():
        for port in service.get("ports", []):
            assert re.match(r"\$\{((TLS|CONSOLE|SMPP)_)?BIND:-127\.0\.0\.1\}:", port), name


def problems() -> dict[int, dict[str, Any]]:
    """What nginx answers by itself, by status, with its variables filled in."""
    found = {}
    for status, body in re.findall(r"return (\d+) '(\{.*\})';", NGINX):
        filled = re.sub(r"\$retryable", "false", re.sub(r"\$(instance|problem_id)", "x", body))
        found[int(status)] = json.loads(filled)
    return found


def test_nginx_answers_errors_as_the_api_does() -> None:
    answered = problems()
    assert set(answered) == {400, 413, 429, 502, 503, 504}
    for status, problem in answered.items():
        kind = CATALOGUE[problem["code"]]
        assert (problem["status"], kind.status) == (status, status)
        assert (problem["title"], problem["remediation"]) == (kind.title, kind.remediation)
        assert problem["type"] == f"/api/v1/errors/{problem['code']}"
        assert problem["retryable"] == kind.retryable
        assert set(problem) == {
            *("type", "title", "status", "detail", "instance", "code", "request_id", "retryable", "remediation")
        }


def test_nginx_has_the_limit_that_customers_are_told() -> None:
    assert re.findall(r"^ *limit_conn clients (\d+);", NGINX, re.M) == [str(CONNECTIONS_OF_ADDRESS)]


def test_nginx_may_open_what_its_connections_need() -> None:
    """Of each: the client's socket, the API's, and a file for its body or response."""
    (files, connections) = re.findall(r"\bworker_(?:rlimit_nofile|connections) (\d+);", NGINX)
    assert int(files) > 3 * int(connections)


@pytest.mark.parametrize("path", ["/api/v1/groups/7/import", "/operator/v1/price-lists/7/import/"])
def test_nginx_takes_large_files_where_the_api_does(path: str) -> None:
    large = re.findall(r"location ~ (\S+) {[^}]*client_max_body_size 100m;", NGINX)
    assert any(re.search(pattern, path) for pattern in large)


def test_the_consoles_nginx_takes_files_where_the_console_does() -> None:
    (large,) = re.findall(r"location ~ (\S+) {\s+client_max_body_size 52m;", DOCUMENT)
    rules = create_app(Settings(secret_key="a-key-that-only-this-test-uses-0123")).url_map.iter_rules()
    paths = {re.sub("<any[^>]*>", "live", rule.rule) for rule in rules if rule.endpoint in LISTS}
    assert [path for path in paths if not re.search(large, path)] == []


def test_the_image_keeps_what_the_code_imports() -> None:
    removed = re.findall(r"site-packages/(phonenumbers/\w+)", Path("Dockerfile").read_text())
    assert removed
    blocked = ", ".join(repr(path.replace("/", ".")) for path in removed)
    code = f"import sys; sys.modules.update(dict.fromkeys([{blocked}])); import api.app, worker.process, bulksms.cli"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
