"""deploy/replace-api.sh: every container of the API is replaced behind a real nginx, and no request is lost."""

import http.client
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.local.ports import free_port
from tests.harness.front import Front, needs_nginx
from tests.harness.house import House, wait_until

pytestmark = [pytest.mark.slow, needs_nginx]
CLIENTS = 4
SENDS = "SELECT count(*) FROM send"
FIRST = 254_711_000_000


class Client(threading.Thread):
    """Sends without an Idempotency-Key, so that nothing repeats what was sent once; each on a connection of its own."""

    def __init__(self, house: House, number: int) -> None:
        super().__init__(daemon=True)
        self._house = house
        self._next_phone = FIRST + number * 1_000_000
        self._over = threading.Event()
        self.responses: Counter[int | str] = Counter()

    def run(self) -> None:
        while not self._over.wait(0.02):
            body = {"sender_id": "ACME", "phone": str(self._next_phone), "message": "Hi"}
            self._next_phone += 1
            try:
                self.responses[self._house.try_request("POST", "/sms/send", body)[0]] += 1
            except (OSError, http.client.HTTPException) as error:
                self.responses[repr(error)] += 1

    def stop(self) -> None:
        """Stop; the request under way ends first."""
        self._over.set()
        self.join(60)


class Compose:
    """The services `front` and `api` on this machine, and the program `docker` of docker.py."""

    def __init__(self, folder: Path, house: House) -> None:
        self.front = Front(folder / "front", free_port())
        self._containers = folder / "containers"
        self._containers.mkdir()
        docker = folder / "front" / "bin" / "docker"
        docker.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("docker.py")} "$@"\n')
        docker.chmod(0o755)
        self.env = {
            **house.env,
            **self.front.env,
            "TRUSTED_PROXIES": "127.0.0.0/8",
            "CONTAINERS": str(self._containers),
            "API_PORT": str(self.front.api_port),
            "FRONT": str(self.front.script),
        }

    def docker(self, *arguments: str) -> str:
        """Run it."""
        return subprocess.run(
            ["docker", *arguments], env=self.env, check=True, timeout=120, stdout=subprocess.PIPE, text=True
        ).stdout

    def up(self, count: int) -> None:
        """Start the containers that are missing."""
        self.docker("compose", "up", "--detach", "--no-deps", "--no-recreate", "--scale", f"api={count}", "api")
        for container in self.containers():
            wait_until(lambda container=container: self._health(container) == "healthy", 60, "the API")

    def is_used(self, container: str) -> bool:
        """Whether the front sends requests to it."""
        return self.front.server(f"127.0.0.{container}") in self.front.servers()

    def _health(self, container: str) -> str:
        return self.docker("inspect", "--format", "{{.State.Health.Status}}", container).strip()

    def containers(self) -> list[str]:
        """Their ids."""
        return self.docker("compose", "ps", "--quiet", "api").split()

    def replace(self, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the script."""
        return subprocess.run(
            ["sh", "deploy/replace-api.sh"],
            env={**self.env, **env},
            timeout=300,
            check=False,
            capture_output=True,
            text=True,
        )

    def stop(self) -> None:
        """Stop all."""
        if self.containers():
            self.docker("rm", "--force", *self.containers())
        self.front.stop()


@pytest.fixture(name="house", scope="module")
def _house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house"))
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture(name="running", scope="module")
def _running(tmp_path_factory: pytest.TempPathFactory, house: House) -> Iterator[Compose]:
    made = Compose(tmp_path_factory.mktemp("compose"), house)
    try:
        made.up(2)
        made.front.start()
        house.port = made.front.port
        house.new_account()
        yield made
    finally:
        made.stop()


@pytest.fixture(name="compose")
def _compose(running: Compose) -> Compose:
    """With two containers, whatever another test has left."""
    running.up(2)
    wait_until(lambda: all(running.is_used(each) for each in running.containers()), 60, "the look-up")
    return running


def test_it_works(compose: Compose, house: House) -> None:
    before, sent = compose.containers(), house.scalar(SENDS)
    clients = [Client(house, number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        wait_until(lambda: min(client.responses.total() for client in clients) > 20, 60, "the first requests")
        for _ in range(2):
            replaced = compose.replace()
            assert replaced.returncode == 0, replaced.stderr + replaced.stdout
        done = min(client.responses.total() for client in clients)
        wait_until(lambda: min(client.responses.total() for client in clients) > done + 20, 60, "requests afterwards")
    finally:
        for client in clients:
            client.stop()
    assert len(compose.containers()) == 2 and not set(before) & set(compose.containers())
    responses = sum((client.responses for client in clients), Counter[int | str]())
    assert set(responses) == {200}, responses
    assert house.scalar(SENDS) == sent + responses[200]


def test_new_containers_that_do_not_become_ready_are_removed(compose: Compose, house: House, tmp_path: Path) -> None:
    """A setting is wrong, for example."""
    before = compose.containers()
    script = tmp_path / "replace-api.sh"
    script.write_text(Path("deploy/replace-api.sh").read_text().replace("ready_seconds=120", "ready_seconds=8"))
    failed = subprocess.run(
        ["sh", str(script)],
        env={**compose.env, "SECRET_KEY": "short"},
        timeout=120,
        check=False,
        capture_output=True,
        text=True,
    )
    assert failed.returncode == 1
    assert "the old ones keep running" in failed.stderr and "SECRET_KEY" in failed.stderr + failed.stdout
    assert compose.containers() == before
    assert [house.try_request("GET", "/balance")[0] for _ in range(10)] == [200] * 10
