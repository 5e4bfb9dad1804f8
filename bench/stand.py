"""Starts the whole service with its own servers, as `make run` does, and an SMSC instead of the simulated carrier."""

import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from sqlalchemy import text

from bench.carrier import Carrier
from bench.meter import Meter
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from bulksms.local.postgres import Postgres
from bulksms.local.redis import RedisServer
from shared.accounts.administration import create_account, create_key
from shared.accounts.top_ups import top_up
from shared.audit.check import audit
from shared.contacts.groups import add_contacts, create_group
from shared.db.connection import make_engine
from shared.db.migrate import migrate
from shared.scopes import SCOPES
from shared.senders.sender_ids import decide_sender, request_sender

METRICS_TOKEN = "a-token-that-only-measurements-use"
SECRET_KEY = "a-secret-key-that-only-measurements-use-0123"
JSON = "application/json"
SENDER = "ACME"
TEXT = "Your order 48151623 has left our house and will be with you tomorrow between 10:00 and 12:00 hrs"
"""96 characters, one segment."""
CREDITS = 100_000_000
FIRST_PHONE = 254_700_000_000
WINDOW = 1_000
PATIENCE = 60.0
"""Seconds without progress after which a benchmark gives up."""
POLL_SECONDS = 0.05

CARRIERS = """\
[carrier.main]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "bench"
password = "bench"
window = {window}
response_timeout = 10
"""


class Stuck(Exception):
    """An expected event did not happen in time."""


class Stand:
    """Postgres, Redis, an SMSC, the API and workers, in a temporary folder."""

    def __init__(
        self,
        *,
        receipts: bool,
        workers: int = 2,
        round_trip: float = 0.0,
        window: int = WINDOW,
        settings: Mapping[str, str] | None = None,
        full: str | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bulksms-bench-"))
        self.receipts = receipts
        self.window = window
        self.postgres = Postgres(self.folder / "postgres")
        self.redis = RedisServer(self.folder / "redis")
        self.port = free_port()
        self.console_port = free_port()
        self.api: Command | None = None
        self.console: Command | None = None
        self.workers: list[Command] = []
        self._launched, self._first = 0, workers
        self._next_phone = FIRST_PHONE
        self._round_trip, self._full = round_trip, full
        self._settings = settings or {}
        self.cloned = 0
        """Messages that were inserted to make the tables large, and never sent."""
        self.meter = Meter(self._roots)

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        self.postgres.start()
        self.redis.start()
        carriers = self.folder / "carriers.toml"
        values = {
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            "BROKER_URL": self.redis.url,
            "SECRET_KEY": SECRET_KEY,
            "CARRIERS_FILE": str(carriers),
            "METRICS_TOKEN": METRICS_TOKEN,
            "PROMETHEUS_MULTIPROC_DIR": str(self.folder / "metrics"),
            "PYTHONPATH": str(Path.cwd()),
            **self._settings,
        }
        self.env = services.environment(values)
        self.smsc = Carrier(self.folder, self.env, receipts=self.receipts, round_trip=self._round_trip, full=self._full)
        self.smsc.start()
        carriers.write_text(CARRIERS.format(port=self.smsc.port, window=self.window))
        self.engine = make_engine(self.postgres.url, application="bench")
        migrate(self.engine)
        self.api = services.api(self.port, self.env, self.folder, Path.cwd())
        self.api.launch()
        self.api.wait_ready(60)
        self.start_workers(self._first)
        self.account, self.token = self._account()
        self.meter.start()

    def stop(self) -> None:
        """Stop everything, last started first, and remove the folder."""
        self.meter.stop()
        if hasattr(self, "engine"):
            self.engine.dispose()
        smsc = self.smsc.process if hasattr(self, "smsc") else None
        self.stop_workers()
        for process in (self.console, self.api, smsc, self.redis, self.postgres):
            if process is not None:
                process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_console(self) -> None:
        """Start the console. It needs CONSOLE_SECRET_KEY, and the API needs to trust its address."""
        self.console = services.console(self.console_port, self.port, self.env, self.folder, Path.cwd())
        self.console.launch()
        self.console.wait_ready(60)

    def start_workers(self, count: int) -> None:
        """Start worker processes, each with its own bind."""
        binds = self.smsc.counts()["connections"] + count
        for _ in range(count):
            self._launched += 1
            worker = services.worker(self._launched, self.env, self.folder, Path.cwd())
            worker.launch()
            self.workers.append(worker)
        wait_until(lambda: self.smsc.counts()["connections"] >= binds, 60, "the workers' binds")

    def stop_workers(self) -> None:
        """Stop all workers."""
        for worker in self.workers:
            worker.ask_to_stop()
        for worker in self.workers:
            worker.wait_stopped(30)
        self.workers.clear()

    def phones(self, count: int) -> range:
        """Phones that have not been used before."""
        first = self._next_phone
        self._next_phone += count
        return range(first, first + count)

    def group(self, count: int) -> str:
        """Create a group of `count` contacts. Returns its id."""
        with self.engine.begin() as connection:
            group = create_group(connection, self.account, f"Group of {count} from {self._next_phone}")
            add_contacts(connection, group, self.phones(count))
        return str(group)

    def post(self, path: str, body: bytes) -> Any:
        """POST a JSON body, and return the response. Raises Stuck unless its status is 200."""
        return self.request("POST", path, body)

    def request(self, method: str, path: str, body: bytes | None = None, content_type: str = JSON) -> Any:
        """A request, and the JSON of its response. Raises Stuck unless its status is 200."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=120)
        try:
            connection.request(method, "/api/v1" + path, body, self.headers() | {"Content-Type": content_type})
            response = connection.getresponse()
            document = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            raise Stuck(f"{method} {path} returned {response.status}: {document}")
        return document

    def headers(self) -> dict[str, str]:
        """The headers of the account's requests."""
        return {"Content-Type": JSON, "Authorization": f"Bearer {self.token}"}

    def scalar(self, statement: str) -> Any:
        """One value from the database."""
        with self.engine.connect() as connection:
            return connection.execute(text(statement)).scalar()

    def accepted(self) -> int:
        """Messages accepted since the start."""
        return int(self.scalar("SELECT coalesce(sum(accepted), 0) FROM send")) - self.cloned

    def settle(self) -> None:
        """Wait until nothing more is accepted, as abandoned requests may still be in progress."""
        before = -1
        while (accepted := self.accepted()) != before:
            before = accepted
            time.sleep(0.2)

    def finish(self, begun: float) -> dict[str, float]:
        """Wait until all accepted messages are submitted, recorded and, with receipts, delivered.

        Returns the seconds since `begun` (of time.monotonic) at which each was reached.
        """
        expected = self.accepted()
        times = {"submitted": self._reach("submits", expected, begun)}
        wait_until(lambda: not self.scalar(OPEN), PATIENCE, "the end of the sends")
        times["completed"] = time.monotonic() - begun
        if self.receipts:
            times["delivered"] = self._reach("receipts_answered", expected, begun)
        return times

    def _reach(self, name: str, expected: int, begun: float) -> float:
        last, moved = -1, time.monotonic()
        while (count := int(self.smsc.counts()[name])) < expected:
            if count != last:
                last, moved = count, time.monotonic()
            if time.monotonic() > moved + PATIENCE:
                raise Stuck(f"{name} at the SMSC stopped at {count:,} of {expected:,}; see the logs in {self.folder}")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - begun

    def faults(self) -> list[str]:
        """The reasons why the figures are void: an audit breach, or a message submitted twice or never."""
        faults = [f"audit: {breach.rule}: {breach.detail}" for breach in audit(self.engine, full=True)]
        counts = self.smsc.counts()
        if counts["duplicates"]:
            faults.append(f"{counts['duplicates']:,} messages were submitted twice")
        accepted = self.accepted()
        if counts["submits"] != accepted:
            faults.append(f"{accepted:,} messages were accepted, but {counts['submits']:,} submitted")
        return faults

    def _account(self) -> tuple[int, str]:
        with self.engine.begin() as connection:
            account = create_account(connection, "bench")
            request_sender(connection, account, SENDER)
            decide_sender(connection, account, SENDER, "approved")
            top_up(connection, account, CREDITS, "measurements", "first")
            key = create_key(connection, account, SECRET_KEY, scopes=SCOPES)
        self.token = ""
        return account, str(self.post("/auth/token", json.dumps(key._asdict()).encode())["access_token"])

    def _roots(self) -> dict[str, list[int]]:
        smsc = [self.smsc.process]
        api = [self.api] if self.api else []
        groups: dict[str, list[Any]] = {
            "api": api,
            **({"console": [self.console]} if self.console else {}),
            "worker": self.workers,
            "postgres": [self.postgres],
            "redis": [self.redis],
            "smsc": smsc,
        }
        return {name: [process.pid for process in processes] for name, processes in groups.items()}


OPEN = "SELECT EXISTS (SELECT FROM send WHERE completed_at IS NULL)"


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """Wait until the condition is true. Raises Stuck after `seconds`, naming `what` was awaited."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Stuck(f"timed out after {seconds:g} s waiting for {what}")
        time.sleep(POLL_SECONDS)
