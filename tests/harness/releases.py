"""Two releases of the service side by side on one database."""

import contextlib
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import free_port
from shared.db.schema import MIGRATIONS, head
from tests.harness.house import WORKERS_EVER, House, wait_until

HERE = Path.cwd()
PACKAGES = ("api", "bulksms", "shared", "worker")
VERSIONS = (MIGRATIONS / "versions").relative_to(HERE)
NEXT = '''"""What the next release changes."""

from alembic import op

revision = "{next}"
down_revision = "{head}"

compatible = True


def upgrade() -> None:
    for table in ("send", "batch", "message", "ledger", "account"):
        op.execute(f"ALTER TABLE {{table}} ADD COLUMN next_release text")
'''


def releases(folder: Path) -> tuple[Path, Path]:
    """The code of two releases, the older one first.

    They are the last tag and this code, if git knows a tag. Otherwise they are this code and the same with one more
    migration, so that the test is the same one wherever it runs.
    """
    tag = _git("describe", "--tags", "--abbrev=0")
    if tag:
        (folder / "release").mkdir()
        archive = subprocess.run(["git", "archive", tag, *PACKAGES], cwd=HERE, capture_output=True, check=True).stdout
        subprocess.run(["tar", "--extract"], input=archive, cwd=folder / "release", check=True)
        return folder / "release", HERE
    for package in PACKAGES:
        shutil.copytree(HERE / package, folder / "next" / package, ignore=shutil.ignore_patterns("__pycache__"))
    following = f"{int(head()) + 1:04d}"
    versions = folder / "next" / VERSIONS
    (versions / f"{following}_next_release.py").write_text(NEXT.format(next=following, head=head()))
    return HERE, folder / "next"


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


class Fleet(House):
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


class Release:
    """The processes of one release in a fleet."""

    def __init__(self, fleet: Fleet, home: Path, name: str) -> None:
        self._fleet, self._home = fleet, home
        self._logs = fleet.folder / name
        self._logs.mkdir()
        self._env = {**fleet.env, "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        self.port = free_port()
        self.api = services.api(self.port, self._env, self._logs, home)
        self._workers: list[Command] = []

    @property
    def revision(self) -> str:
        """The revision of its schema."""
        return max(path.name for path in (self._home / VERSIONS).glob("[0-9]*.py")).partition("_")[0]

    def migrate(self) -> None:
        """Run its `bulksms migrate`."""
        command = services.migrate(self._env, self._logs, self._home)
        command.launch()
        wait_until(lambda: command.exit_code() is not None, 60, "the migration")
        assert command.exit_code() == 0, command.log_tail()

    def start(self, workers: int) -> None:
        """Start its API and workers. Requests go to the API when it is ready."""
        before = self._fleet.scalar(WORKERS_EVER)
        self.api.launch()
        self._workers = [services.worker(number, self._env, self._logs, self._home) for number in range(1, workers + 1)]
        for worker in self._workers:
            worker.launch()
        self.api.wait_ready(60)
        self._fleet.ports.append(self.port)
        wait_until(lambda: self._fleet.scalar(WORKERS_EVER) >= before + workers, 90, "the workers")

    def stop(self) -> None:
        """Stop its processes, one after the other. None has to be killed."""
        for process in (self.api, *self._workers):
            assert process.stop(), process.log_tail()
        if self.port in self._fleet.ports:
            self._fleet.ports.remove(self.port)
