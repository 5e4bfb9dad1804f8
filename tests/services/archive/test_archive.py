"""Archived messages are complete and readable again, whenever a process dies; money and erasures stay as they are."""

import gzip
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from bulksms.cli import main
from bulksms.local.postgres import Postgres
from shared.accounts.refused import Refused
from shared.archive.files import BadArchive, data_path
from shared.archive.restore import list_archived, restore, rewrite
from shared.archive.weeks import archive
from shared.db.partitions import make_partitions, partition_of, weeks_of_messages
from tests.harness.database import dispose, fresh_database
from tests.harness.service import SECRET_KEY, Service
from tests.harness.times import ahead
from tests.services.archive.ground import (
    Week,
    books,
    content,
    die,
    end_usage,
    erase,
    is_clean,
    put_away,
    rows,
    silent,
    this_week,
)
from worker.jobs.retention import forget
from worker.jobs.usage import count_one

pytestmark = pytest.mark.slow
PERSON, OTHER = "254733123987", "254733123988"


@pytest.fixture
def week() -> Week:
    return this_week()


@pytest.fixture
def service(postgres_server: Postgres, week: Week) -> Iterator[Service]:
    """A service whose messages of this week have ended."""
    made = Service(fresh_database(postgres_server))
    with made.engine.begin() as connection:
        make_partitions(connection)
        for earlier in weeks_of_messages(connection):
            if earlier < week.monday:
                connection.execute(text(f"DROP TABLE {partition_of(earlier)}"))
    made.send(PERSON, "One")
    made.bulk([PERSON, OTHER, "99902000001", "99901000001"], 'Many, with "quotes"')
    canceled = made.bulk([PERSON], send_at=ahead())
    made.post(f"/sends/{canceled.get_json()['send_id']}/cancel")
    made.deliver_receipts()
    end_usage(made)
    yield made
    dispose(made.engine)


def test_it_works(service: Service, week: Week, tmp_path: Path) -> None:
    before, money, usage = rows(service), books(service), service.get("/usage").get_json()["data"]
    listed = service.get("/messages").get_json()["data"]
    assert len(before) == 5 and len(listed) == 6
    assert put_away(service, week, tmp_path) == [week.monday]
    assert rows(service) == [] and is_clean(service)
    assert (books(service), service.get("/usage").get_json()["data"]) == (money, usage)
    assert service.get("/messages").get_json()["data"] == []
    assert service.get(f"/messages/{listed[0]['message_id']}").status_code == 404
    assert {row["id"] for row in content(service, week, tmp_path)} == {str(row.id) for row in before}
    with service.engine.connect() as connection:
        (archived,) = list_archived(connection)
    assert (archived["week"], archived["messages"], archived["rewrite"]) == (week.monday, 5, False)
    assert put_away(service, week, tmp_path) == []

    restore(service.engine, week.monday, tmp_path, silent)
    assert rows(service) == before and is_clean(service)
    assert service.get("/messages").get_json()["data"] == listed
    with pytest.raises(Refused, match="is not archived"):
        restore(service.engine, week.monday, tmp_path, silent)
    assert put_away(service, week, tmp_path) == [week.monday]
    assert rows(service) == [] and is_clean(service)


@pytest.mark.parametrize("step", ["detached", "writing", "written", "dropping"])
def test_a_process_that_dies_loses_no_message(service: Service, week: Week, tmp_path: Path, step: str) -> None:
    before = rows(service)
    die(service, week, tmp_path, "archive", step)
    assert is_clean(service)
    assert put_away(service, week, tmp_path) == [week.monday]
    assert is_clean(service)
    assert len(content(service, week, tmp_path)) == len(before)
    for restored in ("loaded", "attaching"):
        die(service, week, tmp_path, "restore", restored)
        assert rows(service) == [] and is_clean(service)
    restore(service.engine, week.monday, tmp_path, silent)
    assert rows(service) == before and is_clean(service)


def test_what_was_not_written_yet_can_be_restored_too(service: Service, week: Week, tmp_path: Path) -> None:
    before = rows(service)
    die(service, week, tmp_path, "archive", "writing")
    assert rows(service) == []
    restore(service.engine, week.monday, tmp_path / "empty", silent)
    assert rows(service) == before and is_clean(service)


def test_what_is_erased_stays_erased(service: Service, week: Week, tmp_path: Path) -> None:
    usage = service.get("/usage").get_json()["data"]
    service.execute("UPDATE message SET reference = 'to:' || phone WHERE phone = :phone", phone=int(PERSON))
    put_away(service, week, tmp_path)
    erase(service, PERSON)
    while count_one(service.engine):
        pass
    assert service.get("/usage").get_json()["data"] == usage
    assert is_clean(service)
    with service.engine.connect() as connection:
        assert [row["rewrite"] for row in list_archived(connection)] == [True]
    phones = [row["phone"] for row in content(service, week, tmp_path)]
    assert PERSON not in phones and OTHER in phones and phones.count("0") == 2

    new = tmp_path / "new"
    rewrite(service.engine, week.monday, tmp_path, new, silent)
    with gzip.open(data_path(new, week.monday), "rt") as file:
        assert PERSON not in file.read()
    with service.engine.connect() as connection:
        assert [row["rewrite"] for row in list_archived(connection)] == [False]
    with pytest.raises(BadArchive, match="SHA-256"):
        restore(service.engine, week.monday, tmp_path, silent)
    restore(service.engine, week.monday, new, silent)
    assert PERSON not in {str(row.phone) for row in rows(service)}
    assert is_clean(service)


def test_forgotten_messages_stay_forgotten_and_usage_is_kept(service: Service, week: Week, tmp_path: Path) -> None:
    usage = service.get("/usage").get_json()["data"]
    put_away(service, week, tmp_path)
    assert forget(service.engine, 30, week.later) == 3
    assert service.get("/usage").get_json()["data"] == usage
    assert is_clean(service)
    assert content(service, week, tmp_path) == []
    new = tmp_path / "new"
    assert rewrite(service.engine, week.monday, tmp_path, new, silent).messages == 0
    assert is_clean(service)
    restore(service.engine, week.monday, new, silent)
    assert rows(service) == [] and is_clean(service)


def test_a_damaged_file_is_not_restored(service: Service, week: Week, tmp_path: Path) -> None:
    put_away(service, week, tmp_path)
    path = data_path(tmp_path, week.monday)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BadArchive, match="not what was written"):
        restore(service.engine, week.monday, tmp_path, silent)
    path.unlink()
    with pytest.raises(BadArchive, match="is not there"):
        restore(service.engine, week.monday, tmp_path, silent)
    path.write_bytes(whole)
    restore(service.engine, week.monday, tmp_path, silent)
    assert len(rows(service)) == 5


def test_only_one_at_a_time_moves_messages(service: Service, week: Week, tmp_path: Path) -> None:
    def meanwhile(_: date, step: str) -> None:
        with pytest.raises(Refused, match="is running"):
            put_away(service, week, tmp_path)

    assert archive(service.engine, week.end, tmp_path, meanwhile, week.later) == [week.monday]
    restore(service.engine, week.monday, tmp_path, meanwhile)
    assert len(rows(service)) == 5


def test_the_commands(service: Service, week: Week, tmp_path: Path) -> None:
    env = {
        "DATABASE_URL": service.settings.database_url.replace("+psycopg", ""),
        "REDIS_URL": "redis://unused",
        "SECRET_KEY": SECRET_KEY,
    }

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["archive", *arguments], env=env)
        assert result.exit_code == 0, result.output
        return result.output

    put_away(service, week, tmp_path)
    assert f"{week.monday}" in run("list", "--json")
    assert OTHER in run("read", str(tmp_path), f"{week.monday}")
    assert "5 messages" in run("rewrite", str(tmp_path), f"{week.monday}", "--to", str(tmp_path / "new"))
    assert "restored" in run("restore", str(tmp_path / "new"), f"{week.monday}")
    assert "0 weeks are archived" in run("write", str(tmp_path), "--before", f"{week.today - timedelta(days=20)}")
    service.execute("UPDATE account SET available = available + 1")
    result = CliRunner().invoke(main, ["archive", "write", str(tmp_path), "--before", "2026-01-05"], env=env)
    assert result.exit_code == 1 and "nothing was archived" in result.output
