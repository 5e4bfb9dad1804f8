"""Archived messages are complete and readable again, whenever a process dies; money and erasures stay as they are."""

import csv
import gzip
import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from bulksms.cli import main
from bulksms.local.postgres import Postgres
from shared.accounts.change_account import change_account
from shared.accounts.refused import Refused
from shared.archive.files import BadArchive, data_path
from shared.archive.restore import list_archived, read, restore, rewrite
from shared.archive.weeks import archive
from shared.audit.check import audit
from shared.db.partitions import make_partitions, partition_of, weeks_of_messages
from tests.harness.database import dispose, fresh_database
from tests.harness.service import SECRET_KEY, Service
from tests.integration.jobs.test_usage import count
from worker.jobs.erasure import erase_one
from worker.jobs.retention import forget

PERSON, OTHER = "254733123987", "254733123988"
FINAL = text("UPDATE usage_hour SET final = true")
ROWS = text("SELECT m.* FROM message m ORDER BY id")
TABLE = text("SELECT to_regclass(:name)")
ASKED_EARLIER = text("UPDATE erasure SET due_at = now(), created_at = now() - interval '1 hour'")
DIES = """
import os, sys
from datetime import date, datetime
from pathlib import Path
from shared.archive.restore import restore
from shared.archive.weeks import archive
from shared.db.connection import make_engine
what, url, folder, monday, before, now, step = sys.argv[1:]
def say(week, done):
    if done.startswith(step):
        os._exit(137)
engine = make_engine(url)
if what == "archive":
    archive(engine, date.fromisoformat(before), Path(folder), say, datetime.fromisoformat(now))
else:
    restore(engine, date.fromisoformat(monday), Path(folder), say)
"""


class Week:
    """The week in which a test takes place: all of it, as none begins in the last minute of a week."""

    def begin(self) -> None:
        """See which it is now."""
        while (now := datetime.now(UTC)).weekday() > (now + timedelta(minutes=1)).weekday():
            time.sleep(1)
        self.today = datetime.now(UTC).date()
        self.monday = self.today - timedelta(days=self.today.weekday())
        self.end = self.monday + timedelta(weeks=1)
        self.later = datetime.now(UTC) + timedelta(days=40)


WEEK = Week()


@pytest.fixture
def service(postgres_server: Postgres) -> Iterator[Service]:
    """A service whose messages of this week have ended."""
    WEEK.begin()
    made = Service(fresh_database(postgres_server))
    with made.engine.begin() as connection:
        make_partitions(connection)
        for week in weeks_of_messages(connection):
            if week < WEEK.monday:
                connection.execute(text(f"DROP TABLE {partition_of(week)}"))
    made.send(PERSON, "One")
    made.bulk([PERSON, OTHER, "99902000001", "99901000001"], 'Many, with "quotes"')
    canceled = made.bulk([PERSON], send_at=f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}")
    made.post(f"/sends/{canceled.get_json()['send_id']}/cancel")
    made.deliver_receipts()
    end_usage(made)
    yield made
    dispose(made.engine)


def end_usage(service: Service) -> None:
    count(service)
    with service.engine.begin() as connection:
        connection.execute(FINAL)


def silent(week: date, step: str) -> None:
    """Say nothing."""


def put_away(service: Service, folder: Path) -> list[date]:
    return archive(service.engine, WEEK.end, folder, silent, WEEK.later)


def rows(service: Service) -> list[Any]:
    with service.engine.connect() as connection:
        return list(connection.execute(ROWS).all())


def is_clean(service: Service) -> bool:
    return audit(service.engine, full=True) == [] and audit(service.engine, full=False) == []


def books(service: Service) -> Any:
    with service.engine.connect() as connection:
        balance = connection.execute(text("SELECT id, available, reserved FROM account ORDER BY id")).all()
        return balance, connection.execute(text("SELECT count(*), sum(amount) FROM ledger")).one()


def content(service: Service, folder: Path) -> list[dict[str, str]]:
    out = io.BytesIO()
    read(service.engine, WEEK.monday, folder, out.write)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode())))


def erase(service: Service, phone: str) -> None:
    assert service.post("/erasures", phone=phone).status_code == 200
    with service.engine.begin() as connection:
        connection.execute(ASKED_EARLIER)
    erase_one(service.engine)


def test_it_works(service: Service, tmp_path: Path) -> None:
    before, money, usage = rows(service), books(service), service.get("/usage").get_json()["data"]
    listed = service.get("/messages").get_json()["data"]
    assert len(before) == 5 and len(listed) == 6
    assert put_away(service, tmp_path) == [WEEK.monday]
    assert rows(service) == [] and is_clean(service)
    assert (books(service), service.get("/usage").get_json()["data"]) == (money, usage)
    assert service.get("/messages").get_json()["data"] == []
    assert service.get(f"/messages/{listed[0]['message_id']}").status_code == 404
    assert {row["id"] for row in content(service, tmp_path)} == {str(row.id) for row in before}
    with service.engine.connect() as connection:
        (week,) = list_archived(connection)
    assert (week["week"], week["messages"], week["rewrite"]) == (WEEK.monday, 5, False)
    assert put_away(service, tmp_path) == []

    restore(service.engine, WEEK.monday, tmp_path, silent)
    assert rows(service) == before and is_clean(service)
    assert service.get("/messages").get_json()["data"] == listed
    with pytest.raises(Refused, match="is not archived"):
        restore(service.engine, WEEK.monday, tmp_path, silent)
    assert put_away(service, tmp_path) == [WEEK.monday]
    assert rows(service) == [] and is_clean(service)


def test_the_files_can_be_read_without_the_service(service: Service, tmp_path: Path) -> None:
    put_away(service, tmp_path)
    path = data_path(tmp_path, WEEK.monday)
    manifest = json.loads((tmp_path / f"message_{WEEK.monday:%Y%m%d}.json").read_text())
    with gzip.open(path, "rt") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == manifest["messages"] == 5
    assert tuple(lines[0]) == tuple(manifest["columns"])
    checksum = subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True).stdout.split()[0]
    assert checksum == manifest["sha256"]


@pytest.mark.parametrize("step", ["detached", "writing", "written", "dropping"])
def test_a_process_that_dies_loses_no_message(service: Service, tmp_path: Path, step: str) -> None:
    before = rows(service)
    die(service, tmp_path, "archive", step)
    assert is_clean(service)
    assert put_away(service, tmp_path) == [WEEK.monday]
    assert is_clean(service)
    assert len(content(service, tmp_path)) == len(before)
    for restored in ("loaded", "attaching"):
        die(service, tmp_path, "restore", restored)
        assert rows(service) == [] and is_clean(service)
    restore(service.engine, WEEK.monday, tmp_path, silent)
    assert rows(service) == before and is_clean(service)


def test_what_was_not_written_yet_can_be_restored_too(service: Service, tmp_path: Path) -> None:
    before = rows(service)
    die(service, tmp_path, "archive", "writing")
    assert rows(service) == []
    restore(service.engine, WEEK.monday, tmp_path / "empty", silent)
    assert rows(service) == before and is_clean(service)


def die(service: Service, folder: Path, what: str, step: str) -> None:
    url = service.engine.url.render_as_string(hide_password=False)
    times = (f"{WEEK.monday}", f"{WEEK.end}", WEEK.later.isoformat())
    command = [sys.executable, "-c", DIES, what, url, str(folder), *times, step]
    assert subprocess.run(command, check=False, timeout=180).returncode == 137


def test_what_is_erased_stays_erased(service: Service, tmp_path: Path) -> None:
    put_away(service, tmp_path)
    erase(service, PERSON)
    assert is_clean(service)
    with service.engine.connect() as connection:
        assert [row["rewrite"] for row in list_archived(connection)] == [True]
    phones = [row["phone"] for row in content(service, tmp_path)]
    assert PERSON not in phones and OTHER in phones and phones.count("0") == 2

    new = tmp_path / "new"
    rewrite(service.engine, WEEK.monday, tmp_path, new, silent)
    with gzip.open(data_path(new, WEEK.monday), "rt") as file:
        assert PERSON not in file.read()
    with service.engine.connect() as connection:
        assert [row["rewrite"] for row in list_archived(connection)] == [False]
    with pytest.raises(BadArchive, match="SHA-256"):
        restore(service.engine, WEEK.monday, tmp_path, silent)
    restore(service.engine, WEEK.monday, new, silent)
    assert PERSON not in {str(row.phone) for row in rows(service)}
    assert is_clean(service)


def test_forgotten_messages_stay_forgotten_and_usage_is_kept(service: Service, tmp_path: Path) -> None:
    usage = service.get("/usage").get_json()["data"]
    put_away(service, tmp_path)
    assert forget(service.engine, 30, WEEK.later) == 3
    assert service.get("/usage").get_json()["data"] == usage
    assert is_clean(service)
    assert content(service, tmp_path) == []
    new = tmp_path / "new"
    assert rewrite(service.engine, WEEK.monday, tmp_path, new, silent).messages == 0
    assert is_clean(service)
    restore(service.engine, WEEK.monday, new, silent)
    assert rows(service) == [] and is_clean(service)


def test_sends_that_were_forgotten_before_are_not_in_the_file(service: Service, tmp_path: Path) -> None:
    with service.engine.begin() as connection:
        change_account(connection, service.new_account("keeper"), {"retention_days": 90})
        connection.execute(text("UPDATE usage_hour SET final = false"))
    assert forget(service.engine, 30, WEEK.later) == 3
    service.send(OTHER)
    service.deliver_receipts()
    end_usage(service)
    put_away(service, tmp_path)
    assert [row["phone"] for row in content(service, tmp_path)] == [OTHER]
    assert is_clean(service)


def test_a_week_that_is_not_over_is_refused(service: Service, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="9 days old"):
        archive(service.engine, WEEK.today, tmp_path, silent)
    service.send("99906000001")
    with pytest.raises(Refused, match="in doubt"):
        put_away(service, tmp_path)
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET in_doubt = 0"))
        connection.execute(text("UPDATE usage_hour SET final = false"))
    with pytest.raises(Refused, match="usage is not final"):
        put_away(service, tmp_path)
    assert len(rows(service)) == 6


def test_the_audit_finds_a_file_that_lacks_messages(service: Service, tmp_path: Path) -> None:
    put_away(service, tmp_path)
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE archived_week SET messages = messages - 1"))
    assert [breach.rule for breach in audit(service.engine, full=True)] == ["archives"]


def test_a_damaged_file_is_not_restored(service: Service, tmp_path: Path) -> None:
    put_away(service, tmp_path)
    path = data_path(tmp_path, WEEK.monday)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BadArchive, match="not what was written"):
        restore(service.engine, WEEK.monday, tmp_path, silent)
    path.unlink()
    with pytest.raises(BadArchive, match="is not there"):
        restore(service.engine, WEEK.monday, tmp_path, silent)
    path.write_bytes(whole)
    restore(service.engine, WEEK.monday, tmp_path, silent)
    assert len(rows(service)) == 5


def test_only_one_at_a_time_moves_messages(service: Service, tmp_path: Path) -> None:
    def meanwhile(week: date, step: str) -> None:
        with pytest.raises(Refused, match="is running"):
            put_away(service, tmp_path)

    assert archive(service.engine, WEEK.end, tmp_path, meanwhile, WEEK.later) == [WEEK.monday]
    restore(service.engine, WEEK.monday, tmp_path, meanwhile)
    assert len(rows(service)) == 5


def test_the_commands(service: Service, tmp_path: Path) -> None:
    env = {
        "DATABASE_URL": service.settings.database_url.replace("+psycopg", ""),
        "REDIS_URL": "redis://unused",
        "SECRET_KEY": SECRET_KEY,
    }

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["archive", *arguments], env=env)
        assert result.exit_code == 0, result.output
        return result.output

    put_away(service, tmp_path)
    assert f"{WEEK.monday}" in run("list", "--json")
    assert OTHER in run("read", str(tmp_path), f"{WEEK.monday}")
    assert "5 messages" in run("rewrite", str(tmp_path), f"{WEEK.monday}", "--to", str(tmp_path / "new"))
    assert "restored" in run("restore", str(tmp_path / "new"), f"{WEEK.monday}")
    assert "0 weeks are archived" in run("write", str(tmp_path), "--before", f"{WEEK.today - timedelta(days=20)}")
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE account SET available = available + 1"))
    result = CliRunner().invoke(main, ["archive", "write", str(tmp_path), "--before", "2026-01-05"], env=env)
    assert result.exit_code == 1 and "nothing was archived" in result.output
