"""Where a fault happens: a service of its own under a standard workload, and what must hold afterwards."""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.errors import LocalError
from bulksms.local.ports import free_port
from shared.audit.check import audit
from tests.faults.proxy import Proxy
from tests.faults.traffic import Traffic
from tests.harness.house import House, wait_until

WINDOW = 400
"""Of the simulated carrier: as many messages of one worker may be in doubt after one crash of it."""
RATE = 1500
LIST, GROUP = 2_000, 3_000
LEASE = 3.0
SIMULATED = "SELECT count(*) FROM simulated_receipt"
KEPT = """
    SELECT count(*) FROM receipt r JOIN message m ON m.phone = r.phone AND m.carrier = r.carrier
     WHERE m.status IN ('sent', 'in_doubt')
"""
"""Receipts that wait for a worker, and whose message waits for them."""
PATIENCE = 90.0
"""Seconds after the end of a fault within which everything must have ended."""


class Ground(House):
    """A house whose API and workers reach Postgres and Redis through proxies, and whose processes can be revived."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder, durable=True, **{"SIMULATOR_RATE": str(RATE), "WORKER_CONCURRENCY": "4", **settings})
        self.proxies = {
            (process, what): Proxy(server.port)
            for process in ("api", "worker")
            for what, server in (("postgres", self.postgres), ("redis", self.redis))
        }
        self.more: dict[str, dict[str, str]] = {"api": {}, "worker": {}}
        """Environment of one kind of process only."""
        self._common = dict(self.env)
        self.smpp: list[Command] = []
        self._phones = 254_000_000_000

    def proxy(self, process: str, what: str) -> Proxy:
        """The proxy between "api" or "worker" and "postgres" or "redis"."""
        return self.proxies[process, what]

    def start_api(self) -> None:
        self._set_up("api")
        super().start_api()

    def launch_worker(self) -> None:
        self._set_up("worker")
        super().launch_worker()

    def start_smpp(self) -> int:
        """Start an SMPP server, which reaches what the API reaches. Returns its port."""
        self._set_up("api")
        port = free_port()
        self.smpp.append(services.smpp(port, self.env, self.folder, Path.cwd()))
        self.smpp[-1].launch()
        self.smpp[-1].wait_ready(PATIENCE)
        return port

    def start_workers_blindly(self, count: int) -> None:
        """Start workers without waiting for them: the database may be away."""
        for _ in range(count):
            self.launch_worker()

    def stop(self) -> None:
        for command in self.commands():
            with contextlib.suppress(LocalError, ProcessLookupError):
                os.kill(command.pid, signal.SIGCONT)
        try:
            for process in self.smpp:
                process.stop()
            super().stop()
        finally:
            for proxy in self.proxies.values():
                proxy.close()

    def commands(self) -> list[Command]:
        """The API, the workers and the SMPP servers."""
        return [command for command in (self.api, *self.workers, *self.smpp) if command is not None]

    def revive(self) -> int:
        """Start again what the fault killed, as a supervisor would; returns how many. Nothing ends by itself."""
        ended = [command for command in self.commands() if command.exit_code() is not None]
        for command in ended:
            assert command.exit_code() == -signal.SIGKILL, f"it ended by itself. {command.log_tail()}"
            command.launch()
        return len(ended)

    def wait_reviving(self, true: Any, seconds: float, what: str) -> None:
        """Wait until something is true, reviving what ends meanwhile."""

        def revived_and_true() -> bool:
            self.revive()
            return bool(true())

        wait_until(revived_and_true, seconds, what)

    def phones(self, count: int) -> int:
        """The first of so many phones that nobody else has."""
        first, self._phones = self._phones, self._phones + count
        return first

    def is_answering(self) -> bool:
        """Whether every API process answers from the database: several times in a row."""
        with contextlib.suppress(Exception):
            return all(self.try_request("GET", "/balance", timeout=5)[0] == 200 for _ in range(6))
        return False

    def at_carrier(self) -> Counter[int]:
        """How often the carrier was given each phone, by the carrier's own books."""
        with self.engine.connect() as connection:
            rows = connection.execute(text("SELECT phone, count(*) FROM simulated_submit GROUP BY phone"))
            return Counter({row[0]: row[1] for row in rows})

    def _set_up(self, process: str) -> None:
        urls = {}
        for name, what, server in (
            ("DATABASE_URL", "postgres", self.postgres),
            ("REDIS_URL", "redis", self.redis),
            ("BROKER_URL", "redis", self.redis),
        ):
            urls[name] = self._common[name].replace(f":{server.port}/", f":{self.proxy(process, what).port}/")
        self.env.update({**self._common, **urls, **self.more[process]})
        for name in set(self.env) - set(self._common) - set(self.more[process]):
            del self.env[name]


class Fault:
    """One fault on one ground: the workload around it, and the check after it."""

    def __init__(self, ground: Ground) -> None:
        self.house = ground
        self.sends: dict[str, int] = {}
        """Accepted messages by send."""
        self.traffics: list[Traffic] = []
        self.over = 0.0
        self.receipts_are_over: Callable[[], object] = lambda: not ground.scalar(SIMULATED)
        """Whether the carrier has no receipt left to deliver."""
        self.before: Counter[int] = Counter()
        """What the carrier was given before its books went back in time."""
        self.ended_otherwise: set[str] = set()
        """Sends that are not delivered as a whole because the test wants it so."""

    @property
    def traffic(self) -> Traffic:
        """The newest single sends."""
        return self.traffics[-1]

    @contextlib.contextmanager
    def workload(self, *, progress: bool = True) -> Iterator[None]:
        """A list, a group and single sends all the time. The block is the fault; at its end it is over.

        With `progress` the block begins when the first messages are out.
        """
        house = self.house
        phones = house.phones(LIST)
        name = f"sender-{phones}"
        account = house.new_account(name, 1_000_000)
        self._accept(house.post("/sms/send-bulk", sender_id="ACME", phones=_row(phones, LIST), message="Hi"))
        group = house.new_group(account, GROUP, house.phones(GROUP))
        self._accept(house.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi"))
        self.traffics.append(Traffic(house, house.phones(100_000), name))
        self.traffic.start()
        try:
            if progress:
                wait_until(lambda: house.scalar("SELECT count(*) FROM message") > 300, 60, "the first messages")
            yield
        finally:
            self.traffic.stop()
        self.over = time.monotonic()

    def check(self, *, in_doubt: int = 0, patience: float = PATIENCE, recovery: float | None = None) -> None:
        """What must hold after every fault; `in_doubt` is how many messages may be in doubt."""
        house = self.house
        house.engine.dispose()  # of connections that the fault has broken
        house.wait_reviving(house.is_answering, patience, "the API")
        for traffic in self.traffics:
            traffic.settle()
        house.wait_reviving(
            lambda: not house.scalar("SELECT count(*) FROM send WHERE completed_at IS NULL"), patience, "the sends"
        )
        took = time.monotonic() - self.over
        wait_until(self.receipts_are_over, patience, "the receipts")
        wait_until(lambda: not house.scalar(KEPT), patience, "the receipts to be matched")
        self._refuse_something()
        for traffic in self.traffics:
            traffic.check_answers()
        self._check_outcome(in_doubt)
        assert audit(house.engine, full=True) == []
        assert recovery is None or took <= recovery

    def _accept(self, response: Any) -> None:
        self.sends[response["send_id"]] = response["counts"]["accepted"]

    def _unknown(self) -> list[Any]:
        """The sends with messages that are neither delivered nor in doubt."""
        with self.house.engine.connect() as connection:
            rows = connection.execute(text("SELECT id FROM send WHERE delivered + in_doubt <> accepted")).all()
        return [row for row in rows if str(row.id) not in self.ended_otherwise]

    def _check_outcome(self, most_in_doubt: int) -> None:
        house = self.house
        for wanted in (wanted for traffic in self.traffics for wanted in traffic.wanted):
            self.sends[wanted.accepted["send_id"]] = 1
        # A receipt that came before its message was recorded is looked at again a moment later.
        wait_until(lambda: not self._unknown(), PATIENCE, "the last receipts")
        with house.engine.connect() as connection:
            rows = connection.execute(text("SELECT id, accepted, delivered, sent, in_doubt FROM send")).all()
        assert {str(row.id): row.accepted for row in rows} == self.sends
        carrier = house.at_carrier()
        if self.before:
            carrier = carrier + self.before
        in_doubt = sum(row.in_doubt for row in rows)
        assert max(carrier.values(), default=0) <= 1, "given to the carrier twice"
        assert in_doubt <= most_in_doubt
        taken = sum(row.delivered + row.sent for row in rows)
        assert taken <= len(carrier) <= taken + in_doubt

    def _refuse_something(self) -> None:
        """What is refused leaves nothing behind."""
        house = self.house
        house.token = self.traffic.token
        seen = "SELECT (SELECT count(*) FROM send), (SELECT count(*) FROM ledger), (SELECT count(*) FROM idempotency)"
        with house.engine.connect() as connection:
            before = connection.execute(text(seen)).one()
        for body, status in (
            ({"sender_id": "ACME", "phone": "0712", "message": "Hi"}, 400),
            ({"sender_id": "OTHER", "phone": "254711000000", "message": "Hi"}, 403),
        ):
            assert house.try_request("POST", "/sms/send", body, {"Idempotency-Key": "refused"})[0] == status
        with house.engine.connect() as connection:
            assert connection.execute(text(seen)).one() == before


def _row(first: int, count: int) -> list[str]:
    return [str(first + number) for number in range(count)]


def shuffled(things: list[Any], seed: int) -> list[Any]:
    """The same things in an order that the seed decides."""
    return random.Random(seed).sample(things, len(things))


@contextlib.contextmanager
def standing(folder: Path, **settings: str) -> Iterator[Fault]:
    """A running service with two workers, for one fault; stopped at the end."""
    ground = Ground(folder, **settings)
    try:
        ground.start_api()
        ground.start_workers(2)
        yield Fault(ground)
    finally:
        ground.stop()
