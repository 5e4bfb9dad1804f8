"""The whole service as separate processes on servers of its own, for tests that kill parts of it."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import text

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.postgres import Postgres
from bulksms.local.redis import RedisServer
from shared.accounts.administration import create_account, create_key
from shared.accounts.top_ups import top_up
from shared.api_key import NewKey
from shared.contacts.groups import add_contacts, create_group
from shared.db.connection import make_engine
from shared.scopes import SCOPES
from tests.harness.fetch import fetch
from tests.harness.leaks import in_logs, in_redis
from tests.harness.servers import START_SECONDS, make_migrated_postgres, make_redis
from tests.harness.sql import Database

SECRET_KEY = "a-secret-key-of-the-tests-own-0123456789"
OPEN = "SELECT count(*) FROM send WHERE completed_at IS NULL"
EARLY_RECEIPTS = """
    SELECT count(*) FROM receipt r JOIN message m ON m.reference = r.reference AND m.carrier = r.carrier
     WHERE m.status = 'sent'
"""
"""Receipts that came before their messages were recorded. Workers match them a second later."""
STOP_SECONDS = 120.0
"""For processes to stop. They need less than two seconds, but the machine may stand still."""
STEADY = {"LEASE_SECONDS": "60"}
"""Settings where no worker is lost: a batch stays with its worker, also if that stands still for a while."""


class House(Database):
    """Postgres, Redis, the API and workers. Every part can be killed and started again."""

    def __init__(self, folder: Path, *, durable: bool = False, api_processes: int = 2, **settings: str) -> None:
        self.folder = folder
        self.api_processes = api_processes
        self.postgres: Postgres = make_migrated_postgres(folder, durable=durable)
        self.redis: RedisServer = make_redis(folder)
        self.host = LOOPBACK
        self.port = free_port()
        self.postgres.start()
        self.redis.start()
        self.env = services.environment(
            {
                "DATABASE_URL": self.postgres.url,
                "REDIS_URL": self.redis.url,
                "BROKER_URL": self.redis.url,
                "SECRET_KEY": SECRET_KEY,
                "SIMULATOR_RECEIPT_DELAY": "0.2",
                "LEASE_SECONDS": "3",
                **({} if "CARRIERS_FILE" in settings else {"CARRIER": "simulator"}),
                "PYTHONPATH": str(Path.cwd()),
                **settings,
            }
        )
        super().__init__(make_engine(self.postgres.url))
        self.api: Command | None = None
        self.workers: list[Command] = []
        self.webhooks: list[Command] = []
        self._launched = 0
        self.token = ""
        self.key = NewKey("", "")

    def start(self, workers: int) -> None:
        """Start the API and workers at the same time, and wait until all of them are ready."""
        api = self._launch_api()
        self.start_workers(workers)
        api.wait_ready(START_SECONDS)

    def start_api(self) -> None:
        """Start the API and wait until it is ready."""
        self._launch_api().wait_ready(START_SECONDS)

    def _launch_api(self) -> Command:
        self.api = services.api(self.port, self.env, self.folder, Path.cwd(), self.api_processes)
        self.api.launch()
        return self.api

    def start_workers(self, count: int) -> None:
        """Start worker processes; they are ready when they have reported to the database."""
        before = self.scalar(WORKERS_EVER)
        for _ in range(count):
            self.launch_worker()
        wait_until(lambda: self.scalar(WORKERS_EVER) >= before + count, START_SECONDS, "the workers")

    def launch_worker(self) -> None:
        """Start a worker process without waiting for it."""
        self._launched += 1
        worker = services.worker(self._launched, self.env, self.folder, Path.cwd())
        worker.launch()
        self.workers.append(worker)

    def start_webhooks(self) -> None:
        """Start a process that posts events to webhooks."""
        webhooks = services.webhooks(self.env, self.folder, Path.cwd())
        webhooks.launch()
        self.webhooks.append(webhooks)

    def kill_webhooks(self) -> None:
        """SIGKILL what posts events."""
        process = self.webhooks.pop()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.stop()

    def stop(self) -> None:
        """Stop everything, and check that no log and no key in Redis holds anything it must not."""
        self.engine.dispose()
        running = [process for process in (*self.webhooks, *self.workers, self.api) if process is not None]
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                process.ask_to_stop()
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                process.wait_stopped(STOP_SECONDS)
        leaked = self.leaks()
        self.redis.stop()
        self.postgres.stop()
        leaked += in_logs(self.folder, SECRET_KEY)
        assert not leaked, leaked[:20]

    def leaks(self, *canaries: str) -> list[str]:
        """Phones, secrets and whatever else is named, where they should not be: in Redis."""
        try:
            return in_redis(Redis.from_url(self.redis.url, socket_timeout=5), SECRET_KEY, *canaries)
        except RedisError:  # a test that has ended Redis, or filled it with what is not data
            return []

    def kill_worker(self, index: int = 0) -> None:
        """SIGKILL a worker."""
        worker = self.workers.pop(index)
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.stop(timeout=STOP_SECONDS)

    def freeze_worker(self) -> int:
        """SIGSTOP the only worker at a moment when it has nothing to do. Returns its process id, for SIGCONT."""
        [worker] = self.workers
        assert worker.pid is not None

        def is_idle() -> bool:
            """No statement of it is under way that would claim what comes from now on."""
            os.kill(worker.pid, signal.SIGSTOP)
            with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                for _ in range(20):
                    states = set(connection.execute(WORKER_SESSIONS).scalars())
                    if states <= {"idle"}:
                        return True
                    if states & IN_TRANSACTION:
                        break
                    time.sleep(0.01)
            os.kill(worker.pid, signal.SIGCONT)
            return False

        wait_until(is_idle, 60, "a moment when the worker is idle")
        return worker.pid

    def new_account(self, name: str = "acme", credits: int = 1_000_000, sender: str = "ACME") -> int:
        """An account with an approved sender ID, whose token the requests use from now on."""
        with self.engine.begin() as connection:
            account = create_account(connection, name, authentication=True)
            top_up(connection, account, credits, "test", name)
            key = create_key(connection, account, SECRET_KEY, scopes=SCOPES)
        self.approve(account, sender)
        self.use_key(key)
        return account

    def use_key(self, key: NewKey) -> None:
        """Get a token of the key, which the requests use from now on."""
        self.key = key
        self.token = self.post("/auth/token", api_key=key.api_key, api_secret=key.api_secret)["access_token"]

    def new_group(self, account: int, count: int, first: int = 255700000000) -> str:
        """A group of `count` consecutive phones."""
        with self.engine.begin() as connection:
            made = connection.execute(text("SELECT count(*) FROM contact_group")).scalar_one()
            group = create_group(connection, account, f"Group {made}")
            add_contacts(connection, group, range(first, first + count))
        return str(group)

    def post(self, path: str, **body: Any) -> Any:
        """POST; the response must be a 200."""
        return self.request("POST", path, body)

    def get(self, path: str) -> Any:
        """GET; the response must be a 200."""
        return self.request("GET", path)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """A request whose response must be a 200."""
        status, response = self.try_request(method, path, body)
        assert status == 200, response
        return response

    def try_request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, timeout: float = 60
    ) -> tuple[int, Any]:
        """A request's status and answer."""
        sent = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}", **(headers or {})}
        content = None if body is None else json.dumps(body)
        response = fetch(self.port, "/api/v1" + path, method, content, sent, host=self.host, timeout=timeout)
        return response.status, json.loads(response.text)

    def import_contacts(self, group: str, file: bytes) -> str:
        """Upload a CSV file of contacts. Returns the id of its import."""
        headers = {"Content-Type": "text/csv", "Authorization": f"Bearer {self.token}"}
        response = fetch(self.port, f"/api/v1/groups/{group}/import", "POST", file, headers, timeout=600)
        assert response.status == 200, response.text
        return str(json.loads(response.text)["import_id"])

    def wait_for_end(self, seconds: float = 60) -> None:
        """Wait until no send is open, and every receipt has come and is matched."""
        wait_until(lambda: not self.scalar(OPEN), seconds, "the sends")
        wait_until(lambda: not self.scalar("SELECT count(*) FROM simulated_receipt"), seconds, "the receipts")
        wait_until(lambda: not self.scalar(EARLY_RECEIPTS), seconds, "the messages of early receipts")

    def most_submits(self) -> int:
        """The most times that the carrier was given any one message."""
        counts = "SELECT count(*) AS times FROM simulated_submit GROUP BY message_id"
        return int(self.scalar(f"SELECT coalesce(max(times), 0) FROM ({counts}) AS t"))


WORKERS_EVER = "SELECT count(*) FROM lease WHERE name LIKE 'worker:%'"
WORKER_SESSIONS = text("SELECT state FROM pg_stat_activity WHERE application_name = 'bulksms-worker'")
IN_TRANSACTION = {"idle in transaction", "idle in transaction (aborted)"}


def wait_until(true: Callable[[], Any], seconds: float, what: str) -> None:
    """Wait until the function returns something true, on a busy machine three times as long as on a quiet one. Raises
    AssertionError, naming what did not come."""
    seconds *= 3
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:g} s"
        time.sleep(0.05)


@contextlib.contextmanager
def house(
    folder: Path, workers: int = 2, *, durable: bool = False, api_processes: int = 1, **settings: str
) -> Iterator[House]:
    """A running service, stopped at the end."""
    made = House(folder, durable=durable, api_processes=api_processes, **settings)
    try:
        made.start(workers)
        yield made
    finally:
        made.stop()


def a_house(workers: int = 2, api_processes: int = 1, **settings: str) -> Any:
    """A fixture: a running service with an account, which the tests of a module share."""

    @pytest.fixture(scope="module")
    def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
        with house(tmp_path_factory.mktemp("house"), workers, api_processes=api_processes, **settings) as made:
            made.new_account()
            yield made

    return service
