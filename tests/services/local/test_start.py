"""Processes that cannot start say why in one sentence and end, or wait where waiting helps."""

import http.client
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.postgres import Postgres
from tests.harness.house import wait_until

pytestmark = pytest.mark.slow
SCRIPTS = Path(sys.executable).parent
API = [sys.executable, "-m", "api.server", "--port", str(free_port())]
WORKER = [str(SCRIPTS / "celery"), "-A", "worker.app", "worker", "--pool", "threads", "-Q", "sends"]
WEBHOOKS = [sys.executable, "-m", "worker.webhooks"]
SMPP = [sys.executable, "-m", "api.smpp", "--port", str(free_port())]
NEEDED = {
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1",
    "SECRET_KEY": "x" * 32,
    "CARRIER": "simulator",
    "PYTHONPATH": str(Path.cwd()),
}


def start(command: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """A process that is expected to end by itself."""
    values = {**os.environ, **NEEDED, **env}
    return subprocess.run(command, env=values, capture_output=True, text=True, timeout=180, check=False)


def assert_one_sentence(ended: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert ended.returncode == 1, ended.stderr
    assert sentence in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr


@pytest.mark.parametrize("command", [API, WORKER], ids=["api", "worker"])
def test_without_a_carrier(command: list[str]) -> None:
    assert_one_sentence(start(command, CARRIER=""), "No carrier is set. Set CARRIERS_FILE")


@pytest.mark.parametrize(
    ("command", "name", "sentence"),
    [(API, "carriers.toml", "carriers.toml is not TOML"), (WORKER, "none", "cannot be read: No such file")],
    ids=["api", "worker"],
)
def test_with_a_carriers_file_that_cannot_be_used(command: list[str], name: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "carriers.toml").write_text("[carrier.main")
    assert_one_sentence(start(command, CARRIER="", CARRIERS_FILE=str(tmp_path / name)), sentence)


@pytest.mark.parametrize(
    ("command", "name", "value", "sentence"),
    [
        (API, "LEASE_SECONDS", "soon", "LEASE_SECONDS is 'soon', which is not a number."),
        (WORKER, "SECRET_KEY", "", "SECRET_KEY is not set."),
        (WEBHOOKS, "LOG_LEVEL", "verbose", "LOG_LEVEL is 'verbose'; it takes DEBUG, INFO"),
        (SMPP, "DATABASE_URL", "postgresql://h:none/x", "DATABASE_URL is not an address of"),
    ],
    ids=["api", "worker", "webhooks", "smpp"],
)
def test_with_a_wrong_setting(command: list[str], name: str, value: str, sentence: str) -> None:
    assert_one_sentence(start(command, **{name: value}), sentence)


def test_a_worker_that_can_never_write_its_guard_file(tmp_path: Path) -> None:
    file = tmp_path / "mistyped" / "mark.json"
    ended = start(WORKER, GUARD_FILE=str(file))
    assert ended.returncode == 1
    assert f"GUARD_FILE={file} cannot be written: No such file or directory." in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("command", [WORKER, WEBHOOKS], ids=["worker", "webhooks"])
def test_a_wrong_password_is_not_waited_for(command: list[str], postgres_server: Postgres) -> None:
    ended = start(command, DATABASE_URL=with_wrong_password(postgres_server))
    assert ended.returncode == 1
    assert 'password authentication failed for user "bulksms". Check DATABASE_URL.' in ended.stderr.replace("\\", "")
    assert "waiting for the database" not in ended.stderr


def test_with_a_wrong_password_the_api_logs_it_and_is_not_ready(postgres_server: Postgres, tmp_path: Path) -> None:
    port = free_port()
    env = services.environment({**NEEDED, "DATABASE_URL": with_wrong_password(postgres_server)})
    with services.api(port, env, tmp_path, Path.cwd()) as api:
        api.launch()
        wait_until(lambda: "password authentication failed" in api.log_file.read_text(), 60, "the sentence")
        assert "Check DATABASE_URL" in api.log_file.read_text()

        def ready() -> int:
            connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status
            except OSError:
                return 0
            finally:
                connection.close()

        wait_until(lambda: ready() == 503, 60, "the API")


def with_wrong_password(server: Postgres) -> str:
    return re.sub(r":[^:@/]+@", ":wrong@", server.url)
