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
from shared.db.connection import CONNECT_SECONDS
from shared.observability.metrics import DIRECTORY
from shared.settings import from_environment
from tests.containers import page
from tests.containers.images import IMAGES, taken_from_registry
from tests.containers.proof import COPIED
from tests.unit.project.test_readme import of_the_code
from worker.carrier_config.file import read_carriers

COMPOSE: dict[str, Any] = yaml.safe_load(Path("docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("migrate", "api", "worker", "webhooks")
LONG_LIVED = [name for name in SERVICES if name != "migrate"]
NGINX = Path("deploy/nginx.conf").read_text()
FRONT = Path("deploy/front.sh").read_text()
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


@pytest.mark.parametrize("name", OURS)
def test_guard_and_configuration_have_a_place_outside_the_container(name: str) -> None:
    service = SERVICES[name]
    volumes = dict(volume.split(":")[:2][::-1] for volume in service["volumes"])
    folder = str(Path(service["environment"]["GUARD_FILE"]).parent)
    assert volumes[folder] in COMPOSE["volumes"]
    assert volumes["/etc/bulksms"] == "./deploy/config"
    assert f"--owner=bulksms {folder}" in Path("Dockerfile").read_text()


def test_the_folder_of_the_configuration_is_not_committed() -> None:
    lines = Path("deploy/config/.gitignore").read_text().splitlines()
    assert {line for line in lines if not line.startswith("#")} == {"*", "!.gitignore", "!carriers.example.toml"}


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


@pytest.mark.parametrize("name", LONG_LIVED)
def test_each_service_has_a_health_check_and_a_bound_on_its_log(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check["test"]
    assert seconds(check["timeout"]) <= seconds(check["interval"])
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", SERVICES)
def test_each_log_is_bounded(name: str) -> None:
    options = SERVICES[name]["logging"]["options"]
    assert options["max-size"].endswith("m") and int(options["max-file"]) > 1


@pytest.mark.parametrize("name", ["api", "worker", "webhooks"])
def test_services_that_use_the_database_are_stopped_before_it(name: str) -> None:
    """Compose stops in the reverse order of what a service names itself, not of what those name."""
    assert SERVICES[name]["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert SERVICES[name]["depends_on"]["redis"]["condition"] == "service_healthy"
    assert SERVICES[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


def test_images_that_are_built_here_are_never_pulled() -> None:
    """A service that names the image, and not how it is built, would ask a registry for it first."""
    assert {name for name, service in SERVICES.items() if service["image"] == "bulksms"} == {*OURS, "console"}
    assert all(SERVICES[name]["build"] == "." for name in (*OURS, "console"))


def test_each_image_has_a_stand_in_for_the_proof_without_a_registry() -> None:
    named = taken_from_registry(Path("Dockerfile").read_text(), Path("docker-compose.yml").read_text())
    assert named == set(IMAGES)


def test_the_proof_finds_the_commands_of_the_page() -> None:
    make, start, account = page.first_start()
    assert make.startswith("cp .env.example .env")
    assert [command.split()[:3] for command in start] == [["docker", "compose", "up"], ["docker", "compose", "exec"]]
    assert [command.split()[4:6] for command in account][-1] == ["bulksms", "key"]
    assert page.tls().split("\n")[0].startswith("TLS_CERTIFICATE=")
    assert page.command("sh deploy/replace-api.sh") == "sh deploy/replace-api.sh"


def test_the_proof_copies_what_the_image_takes() -> None:
    allowed = [line[1:] for line in Path(".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert set(allowed) <= set(COPIED)


def test_a_worker_may_finish_its_window() -> None:
    lease = from_environment({"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x", "SECRET_KEY": "x" * 32}).lease
    assert seconds(SERVICES["worker"]["stop_grace_period"]) > lease + CONNECT_SECONDS


def test_there_are_two_apis_by_default() -> None:
    assert SERVICES["api"]["deploy"]["replicas"] == 2
    assert "ports" not in SERVICES["api"], "two containers cannot share a port of the machine"


def test_nothing_is_published_to_the_world_by_default() -> None:
    for name, service in SERVICES.items():
        for port in service.get("ports", []):
            assert re.match(r"\$\{((TLS|CONSOLE)_)?BIND:-127\.0\.0\.1\}:", port), name


def test_nginx_looks_the_api_up_again() -> None:
    """tests/services/deploy does it with a real nginx, where one is installed."""
    (upstream,) = re.findall(r"upstream api \{(.*?)\}", NGINX, re.S)
    assert "include /run/front/api.conf;" in upstream
    assert "getent ahosts api" in FRONT and "made=/run/front" in FRONT
    assert "wget -q" in FRONT and SERVICES["front"]["healthcheck"]["test"][1] == "wget", (
        "the image of the front must have it"
    )


def test_the_api_is_replaced_as_compose_names_things() -> None:
    script = Path("deploy/replace-api.sh").read_text()
    (front, path) = re.findall(r"compose exec -T (\w+) sh (\S+) leave", script)[0]
    assert f"./deploy/front.sh:{path}:ro" in SERVICES[front]["volumes"]
    assert re.findall(r"compose ps --quiet (\w+)", script)[0] in SERVICES
    given = [int(number) for number in re.findall(r"docker stop --time (\d+)", script)]
    assert given == [seconds(SERVICES["api"]["stop_grace_period"])]


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


def test_only_a_post_with_a_key_is_repeated_after_it_was_sent() -> None:
    (plain,) = re.findall(r"location / \{(.*?)\n        \}", NGINX, re.S)
    assert "non_idempotent" not in plain
    (repeated,) = re.findall(r"location @idempotent \{(.*?)\n        \}", NGINX, re.S)
    assert "non_idempotent" in repeated
    assert 'map "$request_method:$http_idempotency_key" $has_idempotency_key { "~^POST:." 1; default 0; }' in NGINX


def test_the_client_cannot_name_its_own_address() -> None:
    assert re.findall(r"proxy_set_header X-Forwarded-For (.*);", NGINX) == ["$remote_addr"]
    assert "real_ip_recursive on;" in NGINX


def test_the_image_keeps_what_the_code_imports() -> None:
    removed = re.findall(r"site-packages/(phonenumbers/\w+)", Path("Dockerfile").read_text())
    assert removed
    blocked = ", ".join(repr(path.replace("/", ".")) for path in removed)
    code = f"import sys; sys.modules.update(dict.fromkeys([{blocked}])); import api.app, worker.process, bulksms.cli"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
