"""The server of Postgres is lost under traffic, and restored to a time by the commands of docs/operating/backup.md."""

import csv
import io
import json
import subprocess
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, text

from bulksms.local.os_user import unprivileged
from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine
from tests.faults.traffic import Traffic
from tests.harness.backup_page import PATH, run
from tests.harness.house import House, wait_until
from tests.harness.servers import SMALL
from tests.harness.sql import Database
from tests.harness.standby import ADMITTED
from tests.harness.times import ahead

pytestmark = pytest.mark.failover
CLIENTS = 3
PHONES = [str(255_711_000_000 + number) for number in range(5_000)]
TOPPED_UP = 500
CARRIED = "SELECT count(*) FROM simulated_submit"
SUBMITTED = text("SELECT phone FROM simulated_submit ORDER BY phone")
HAS_SEND = text("SELECT count(*) FROM send WHERE id = ANY(:ids)")
ARCHIVED = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"


class Recovery:
    """A service whose Postgres is backed up, lost and restored."""

    def __init__(self, folder: Path) -> None:
        self.house = House(folder, durable=True, SIMULATOR_RATE="150", GUARD_FILE=str(folder / "mark.json"))
        self.server = self.house.postgres
        self._folder = folder
        self._os_user = unprivileged(self.server.data_dir)
        self.disk = folder / "disk"
        self.disk.mkdir()
        self._os_user.own(self.disk)
        self.server.stop()
        hba = self.server.data_dir / "pg_hba.conf"
        hba.write_text(ADMITTED + hba.read_text())
        self.server.start()
        self.env = {
            "PGDATA": str(self.server.data_dir),
            "ARCHIVE": str(self.disk / "wal"),
            "BACKUPS": str(self.disk / "base"),
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.server.port),
            "PGUSER": "postgres",
        }

    def at_server(self, name: str, **env: str) -> str:
        """Run a block of the page as the user that runs Postgres."""
        return run(name, {**self.env, **env}, self._folder, self._os_user)

    def at_service(self, name: str, **env: str) -> str:
        """Run a block of the page with the service's settings."""
        return run(name, {**self.house.env, "PATH": PATH, **env}, self._folder)

    def bulksms(self, *arguments: str) -> str:
        """Run a command of the service, and give what it prints."""
        env = {**self.house.env, "PATH": PATH}
        return subprocess.run(["bulksms", *arguments], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout

    def backup(self) -> str:
        """Make a base backup; its name."""
        self.at_server("back up")
        return max(path.name for path in (self.disk / "base").iterdir())

    def archive_now(self) -> None:
        """What `archive_timeout` does within a minute."""
        with psycopg.connect(f"host=127.0.0.1 port={self.server.port} user=postgres", autocommit=True) as connection:
            (segment,) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ()
            wait_until(lambda: (connection.execute(ARCHIVED, [segment]).fetchone() or ())[0], 60, "the archiving")

    def lose(self) -> Path:
        """Kill the server, stop the service, and move the server's files away."""
        self.server.kill()
        for process in (*self.house.workers, self.house.api):
            assert process is not None
            process.stop()
        self.house.workers.clear()
        self.house.engine.dispose()
        return self.server.data_dir.rename(f"{self.server.data_dir}.lost")

    def carried_by_lost(self, lost: Path) -> list[str]:
        """Phones that the carrier had been given until the server was lost."""
        with Postgres(lost, {**SMALL, "archive_mode": "off"}) as server:
            engine = make_engine(server.start(), pool=1)
            try:
                return submitted(engine)
            finally:
                engine.dispose()

    def carried(self) -> list[str]:
        """Phones that the carrier has been given, as far as the database knows, in order."""
        return submitted(self.house.engine)

    def recipients(self, send: str) -> list[str]:
        """A send's recipients, by the CSV that its owner gets."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.house.port}/api/v1/sends/{send}/messages",
            headers={"Authorization": f"Bearer {self.house.token}", "Accept": "text/csv"},
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            return [row["phone"] for row in csv.DictReader(io.TextIOWrapper(response, "utf-8"))]

    def has_sends(self, ids: list[str]) -> int:
        """How many of these sends the database has."""
        return int(self.house.scalar(HAS_SEND, ids=ids))


@pytest.fixture
def recovery(tmp_path: Path) -> Iterator[Recovery]:
    made = Recovery(tmp_path)
    try:
        yield made
    finally:
        made.house.stop()


def submitted(engine: Engine) -> list[str]:
    return [str(phone) for phone in Database(engine).scalars(SUBMITTED)]


def accepted(clients: list[Traffic], since: int = 0) -> list[str]:
    return [wanted.accepted["send_id"] for client in clients for wanted in client.wanted[since:] if wanted.accepted]


def send_on(house: House, phone: str) -> None:
    send = house.post("/sms/send", sender_id="ACME", phone=phone, message="Hi")["send_id"]
    wait_until(lambda: house.get(f"/sends/{send}")["counts"]["delivered"] == 1, 60, "a new message")


def test_a_lost_server_is_restored_to_a_time(recovery: Recovery) -> None:
    house = recovery.house
    recovery.at_server("set up archive")
    recovery.server.stop()
    recovery.server.start()
    house.start(workers=2)
    house.new_account()
    clients = [Traffic(house, 254_700_000_000 + 1_000_000 * number, f"client-{number}") for number in range(CLIENTS)]
    for client in clients:
        client.start()
    wait_until(lambda: len(accepted(clients)) > 50, 60, "requests before the backup")
    name = recovery.backup()
    recovery.at_server("delete old")

    # Open at the time to which the database is restored: one send half sent, and one of which nothing is sent.
    scheduled = house.post("/sms/send", sender_id="ACME", phone="257711000000", message="Hi", send_at=ahead())[
        "send_id"
    ]
    half_sent = house.post("/sms/send-bulk", sender_id="ACME", phones=PHONES, message="Hi")["send_id"]
    before = house.scalar(CARRIED)
    wait_until(lambda: house.scalar(CARRIED) > before + 300, 60, "the first half")
    wait_until(lambda: f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}" > name, 5, "a time after the backup")
    known = accepted(clients)
    target = house.scalar("SELECT clock_timestamp()")
    began = max(len(client.wanted) for client in clients) + 1

    # What the restored database will not know.
    recovery.at_service("top up", ACCOUNT="acme", CREDITS=str(TOPPED_UP), REASON="invoice 7")
    before = house.scalar(CARRIED)
    wait_until(lambda: house.scalar(CARRIED) > before + 300, 60, "more of what is half sent")
    wait_until(lambda: len(accepted(clients, began)) > 20, 60, "requests after the time")
    recovery.archive_now()
    assert "last_archived_wal" in recovery.at_server("watch archive")
    lost_sends = accepted(clients, began)
    lost = recovery.lose()
    for client in clients:
        client.stop()

    recovery.at_server("restore", TARGET=str(target))
    recovery.server.launch()
    recovery.at_server("wait")
    recovery.server.wait_ready(60)
    assert recovery.has_sends(known) == len(known)
    assert recovery.has_sends(lost_sends) == 0
    known_to_database = recovery.carried()
    carried = set(recovery.carried_by_lost(lost))
    assert carried > set(known_to_database), "the carrier has no more than the database knows"

    house.env["SIMULATOR_RATE"] = "2000"
    house.start(workers=2)
    wait_until(lambda: house.scalar("SELECT held_since FROM installation"), 60, "the guard")
    assert "seconds lost" in recovery.at_service("show guard")
    waiting = house.post("/sms/send", sender_id="ACME", phone="258711000000", message="Hi")["send_id"]
    assert recovery.carried() == known_to_database
    recovery.at_service("release guard")
    send_on(house, "258711000001")

    # The operator's decisions, with the carrier's list.
    held = [row["id"] for row in json.loads(recovery.bulksms("send", "list", "--open", "--limit", "10000", "--json"))]
    begun = [send for send in held if carried & set(recovery.recipients(send))]
    assert half_sent in begun and scheduled not in begun
    recovery.bulksms("send", "cancel", *begun)
    recovery.bulksms("send", "release", *sorted(set(held) - set(begun)))
    assert house.get(f"/sends/{half_sent}")["status"] == "canceled"
    missing = [phone for phone in recovery.recipients(half_sent) if phone not in carried]
    house.post("/sms/send-bulk", sender_id="ACME", phones=missing, message="Hi")
    soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat().replace("+00:00", "Z")
    house.request("PATCH", f"/sends/{scheduled}", {"send_at": soon})
    recovery.at_service("top up", ACCOUNT="acme", CREDITS=str(TOPPED_UP), REASON="invoice 7")
    assert f'"amount": {TOPPED_UP}' in recovery.bulksms("account", "topups", "acme", "--json")

    house.wait_for_end(90)
    assert house.get(f"/sends/{waiting}")["counts"]["delivered"] == 1
    assert house.get(f"/sends/{scheduled}")["counts"]["delivered"] == 1
    phones = recovery.carried()
    assert len(phones) == len(set(phones)), "the restored database sent something twice"
    new = set(phones) - set(known_to_database)
    assert new >= set(missing)
    assert not new & carried, "phones that got a message twice"
    assert set(PHONES) <= carried | set(phones)
    recovery.at_service("audit")
    recovery.backup()
