"""A minute of SIGKILLs at random under `bulksms up`, while a group of 100,000 is sent; its supervisor mends."""

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy.exc import DBAPIError

from bulksms.environment import read_exports
from bulksms.local.files import write_private
from bulksms.local.ports import LOOPBACK, free_port
from shared.audit.check import audit
from shared.db.connection import make_engine
from shared.environment import driver_url
from tests.faults.ground import LEASE, RATE, WINDOW
from tests.harness.house import SECRET_KEY, House, wait_until

GROUP = 100_000
SECONDS = 60
SEED = 7
OURS = ("api.server", "multiprocessing.spawn", "celery")
SERVERS = ("postgres", "redis-server")


class Up(House):
    """A house that `bulksms up` runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host, self.port = LOOPBACK, free_port()
        self.token = ""
        var = folder / "var"
        var.mkdir()
        write_private(var / "secret_key", SECRET_KEY + "\n")
        settings = {"LEASE_SECONDS": str(LEASE), "SIMULATOR_RATE": str(RATE), "SIMULATOR_RECEIPT_DELAY": "0.2"}
        with (folder / "up.log").open("wb") as log:
            command = [str(Path(sys.executable).parent / "bulksms"), "up", "--port", str(self.port), "--workers", "2"]
            self.up = subprocess.Popen(command, cwd=folder, env={**os.environ, **settings}, stdout=log, stderr=log)
        wait_until(lambda: (var / "demo.json").exists(), 120, "the service")
        self.engine = make_engine(driver_url(read_exports((var / "env").read_text())["DATABASE_URL"]))

    def stop(self) -> None:
        """As Ctrl-C does."""
        self.engine.dispose()
        self.up.terminate()
        self.up.wait(90)

    def victims(self, names: tuple[str, ...]) -> list[psutil.Process]:
        """The processes that run one of these programs."""
        found = []
        for process in psutil.Process(self.up.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if any(name in part for part in [process.name(), *process.cmdline()[:3]] for name in names):
                    found.append(process)
        return found

    def patiently(self, check: Callable[[], Any]) -> Any:
        """What the database says; None while it is away."""
        with contextlib.suppress(DBAPIError):
            return check()
        return None


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    made = Up(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def storm(up: Up, names: tuple[str, ...]) -> int:
    """Kill something, again and again. Returns how often."""
    chance, killed, end = random.Random(SEED), 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        victims = up.victims(names)
        if victims:
            with contextlib.suppress(psutil.NoSuchProcess):
                chance.choice(victims).kill()
                killed += 1
        time.sleep(chance.uniform(0.5, 3))
    return killed


def endure(up: Up, names: tuple[str, ...], in_doubt_of_a_kill: int) -> None:
    group = up.new_group(up.new_account("storm", 1_000_000), GROUP)
    send = up.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    assert send["counts"]["accepted"] == GROUP
    killed = storm(up, names)
    over = time.monotonic()
    done = "SELECT count(*) = 0 FROM send WHERE completed_at IS NULL"
    moved = "SELECT count(*) FROM message"
    wait_until(lambda: up.patiently(lambda: up.scalar("SELECT true")), LEASE + 10, "Postgres")
    before = up.scalar(moved)
    wait_until(
        lambda: up.patiently(lambda: up.scalar(moved) > before or up.scalar(done)),
        over + LEASE + 10 - time.monotonic(),
        "workers that send",
    )
    wait_until(lambda: up.patiently(lambda: up.scalar(done)), 240, "the send")
    wait_until(lambda: up.patiently(lambda: up.scalar("SELECT count(*) = 0 FROM simulated_receipt")), 60, "receipts")
    accepted, delivered, in_doubt = (
        up.scalar(f"SELECT {column} FROM send") for column in ("accepted", "delivered", "in_doubt")
    )
    twice = up.scalar("SELECT count(*) FROM (SELECT FROM simulated_submit GROUP BY phone HAVING count(*) > 1) AS t")
    assert twice == 0
    assert accepted == GROUP == delivered + in_doubt
    assert in_doubt <= killed * in_doubt_of_a_kill
    assert audit(up.engine, full=True) == []


def test_a_storm_of_kills(up: Up) -> None:
    endure(up, OURS, WINDOW)


def test_a_storm_of_kills_of_servers_too(up: Up) -> None:
    endure(up, OURS + SERVERS, 2 * (WINDOW + RATE))
