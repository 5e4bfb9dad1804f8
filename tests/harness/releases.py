"""Two releases of the service side by side on one database."""

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from shared.api_key import NewKey
from shared.db.schema import MIGRATIONS, head
from tests.faults.traffic import Traffic
from tests.harness.fetch import status_of
from tests.harness.house import STOP_SECONDS, WORKERS_EVER, House, wait_until
from tests.harness.servers import START_SECONDS

HERE = Path.cwd()
PACKAGES = ("api", "bulksms", "shared", "worker")
VERSIONS = (MIGRATIONS / "versions").relative_to(HERE)
PROGRAMS = Path(sys.executable).parent
READERS, READS = 12, 20
"""So many requests at once, and so often, that a process prepares their statement on each of its connections."""
NEXT = '''"""What the next release changes."""

from alembic import op

revision = "{next}"
down_revision = "{head}"

compatible = True


def upgrade() -> None:
    for table in ("send", "batch", "message", "ledger", "account"):
        op.execute(f"ALTER TABLE {{table}} ADD COLUMN next_release text")
'''


def next_release(folder: Path) -> Path:
    """This code with one more migration."""
    for package in PACKAGES:
        shutil.copytree(HERE / package, folder / "next" / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "Procfile", folder / "next")
    following = f"{int(head()) + 1:04d}"
    versions = folder / "next" / VERSIONS
    (versions / f"{following}_next_release.py").write_text(NEXT.format(next=following, head=head()))
    return folder / "next"


class Installation(House):
    """A house whose API and workers are of several releases. Its requests go to every API in turn."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder, durable=True, **settings)
        with self.engine.begin() as connection:  # the older release migrates it
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        self.ports: list[int] = []
        self._turn = itertools.count()

    def try_request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, timeout: float = 60
    ) -> tuple[int, Any]:
        """As a load balancer does: an API that refuses the connection is left out."""
        first = next(self._turn)
        ports = list(self.ports)
        for number in range(len(ports)):
            self.port = ports[(first + number) % len(ports)]
            with contextlib.suppress(ConnectionRefusedError):
                return super().try_request(method, path, body, headers, timeout)
        raise ConnectionRefusedError

    @contextlib.contextmanager
    def traffic(self, count: int) -> Iterator[list[Traffic]]:
        """Clients that send all the time until the end of the block. Then what had no response is repeated.

        No request failed otherwise, and each key had one effect.
        """
        clients = [Traffic(self, 254_700_000_000 + 1_000_000 * number, f"client-{number}") for number in range(count)]
        for client in clients:
            client.start()
        try:
            yield clients
        finally:
            for client in clients:
                client.stop()
        for client in clients:
            client.settle()
            failed = [each for wanted in client.wanted for each in wanted.tries if each.status not in (200, None)]
            assert failed == [], "only a connection may end, and then the request is repeated"
            client.check_answers()

    def read_often(self, send_id: str) -> set[int]:
        """Read a send with every connection of every API. Returns the statuses of the responses."""
        with ThreadPoolExecutor(READERS) as readers:
            paths = [f"/sends/{send_id}"] * (READERS * READS * len(self.ports))
            return set(readers.map(lambda path: self.try_request("GET", path)[0], paths))

    def times_at_carrier(self) -> list[int]:
        """How often the carrier was given each phone."""
        counts = text("SELECT count(*) FROM simulated_submit GROUP BY phone")
        return self.scalars(counts)


class Release:
    """The processes of one release in an installation, started by its Procfile with the programs of its environment."""

    def __init__(self, installation: Installation, home: Path, name: str, programs: Path = PROGRAMS) -> None:
        self._installation, self._home = installation, home
        self._logs = installation.folder / name
        self._logs.mkdir()
        self._procfile = dict(line.split(": ", 1) for line in (home / "Procfile").read_text().splitlines() if line)
        path = f"{programs}:{os.environ['PATH']}"
        self._env = {**installation.env, "PATH": path, "PYTHONPATH": str(home)}
        self.port, self.console_port = free_port(), free_port()
        self.api = self._process("api", "api", PORT=str(self.port))
        self.workers: list[Command] = []
        self.webhooks: list[Command] = []
        self.console: Command | None = None

    @property
    def revision(self) -> str:
        """The revision of its schema."""
        return max(path.name for path in (self._home / VERSIONS).glob("[0-9]*.py")).partition("_")[0]

    @property
    def has_console(self) -> bool:
        """Whether it has a console that can be started."""
        return "console" in self._procfile

    def _process(self, kind: str, name: str, **env: str) -> Command:
        line = re.sub(r"--host 0\.0\.0\.0", f"--host {LOOPBACK}", self._procfile[kind])
        return Command(
            name, ["bash", "-c", f"exec {line}"], {**self._env, **env}, self._logs / f"{name}.log", self._home
        )

    def migrate(self) -> None:
        """Run its `bulksms migrate`."""
        command = Command("migrate", ["bulksms", "migrate"], self._env, self._logs / "migrate.log", self._home)
        command.launch()
        wait_until(lambda: command.exit_code() is not None, 180, "the migration")
        assert command.exit_code() == 0, command.log_tail()

    def new_account(self) -> None:
        """Create an account, whose key the requests use, with the commands of the release that knows the schema."""
        for command in ("account create acme", "account topup acme 1000000 --reason test"):
            self._run(*command.split())
        for command in ("request", "approve"):
            self._run("sender", command, "acme", "ACME")
        key = json.loads(self._run("key", "create", "acme", "--scope", "all", "--json"))
        self._installation.use_key(NewKey(key["api_key"], key["api_secret"]))

    def _run(self, *arguments: str) -> str:
        """Run `bulksms` with these arguments. Returns what it prints."""
        made = subprocess.run(
            ["bulksms", *arguments], env=self._env, cwd=self._home, capture_output=True, text=True, timeout=180
        )
        assert made.returncode == 0, made.stderr
        return made.stdout

    def start(self, workers: int) -> None:
        """Start its API and workers. Requests go to the API when it is ready."""
        before = self._installation.scalar(WORKERS_EVER)
        self.api.launch()
        self.workers = [self._process("worker", f"worker-{number}") for number in range(1, workers + 1)]
        for worker in self.workers:
            worker.launch()
        wait_until(self.is_ready, START_SECONDS, "the API")
        self._installation.ports.append(self.port)
        wait_until(lambda: self._installation.scalar(WORKERS_EVER) >= before + workers, START_SECONDS, "the workers")

    def is_ready(self) -> bool:
        """Whether its API takes requests."""
        return status_of(self.port, "/readyz") == HTTPStatus.OK

    def start_webhooks(self) -> None:
        """Start what posts its events."""
        self.webhooks = [self._process("webhooks", "webhooks")]
        self.webhooks[0].launch()

    def start_console(self) -> None:
        """Start its console, before its API."""
        kept = dict.fromkeys(services.KEPT_FROM_THE_CONSOLE, "")
        mine = {
            "API_URL": f"http://{LOOPBACK}:{self.port}",
            "CONSOLE_SECRET_KEY": "a-key-of-the-consoles-tests-0123456789",
        }
        self.console = self._process("console", "console", CONSOLE_PORT=str(self.console_port), **mine, **kept)
        self.console.launch()
        wait_until(lambda: status_of(self.console_port, "/healthz") == HTTPStatus.OK, START_SECONDS, "the console")

    def stop(self) -> None:
        """Stop its processes, one after the other. None has to be killed."""
        for process in (self.api, *self.workers, *self.webhooks, *([self.console] if self.console else ())):
            assert process.stop(timeout=STOP_SECONDS), process.log_tail()
        if self.port in self._installation.ports:
            self._installation.ports.remove(self.port)
