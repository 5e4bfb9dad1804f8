"""A database that went back in time sends nothing, until an operator says so."""

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import fakeredis
import psycopg
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from bulksms.cli import main
from bulksms.local.postgres import Postgres, _binary
from shared.guard import Guard, state_of
from tests.database import fresh_database
from tests.integration.service import SECRET_KEY, Service
from tests.services.house import wait_until
from worker.guarding import keep_looking
from worker.quiet import Outage


@pytest.fixture
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    made = fresh_database(postgres_server)
    yield made
    made.dispose()


@pytest.fixture
def redis() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mark.json"


def a_second_later(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE installation SET looked_at = looked_at - interval '1 s'"))


def go_back(engine: Engine, by: int) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE installation SET mark = mark - :by"), {"by": by})


def looked(guard: Guard, engine: Engine, times: int) -> None:
    for _ in range(times):
        a_second_later(engine)
        assert not guard.look().held


def test_it_works(engine: Engine, redis: fakeredis.FakeRedis, file: Path) -> None:
    guard = Guard(engine, redis, file)
    looked(guard, engine, 5)
    state = guard.look()
    assert state.mark == guard.outside(state.id) == 5
    assert json.loads(file.read_text()) == {str(state.id): 5}


@pytest.mark.parametrize("kept", ["redis", "file"])
def test_one_note_is_enough(engine: Engine, redis: fakeredis.FakeRedis, file: Path, kept: str) -> None:
    looked(Guard(engine, redis, file), engine, 5)
    go_back(engine, 3)
    other = Guard(engine, redis if kept == "redis" else None, file if kept == "file" else None)
    state = other.look()
    assert (state.held, state.behind, state.mark) == (True, 3, 2)
    a_second_later(engine)
    assert other.look().mark == 2, "what is held does not rise until it would not be noticed any more"


def test_without_notes_there_is_nothing_to_compare_with(engine: Engine, file: Path) -> None:
    looked(Guard(engine, None, file), engine, 5)
    go_back(engine, 3)
    file.write_text("{")
    assert not Guard(engine, None, file).look().held


def test_a_broken_redis_is_left_alone_for_a_while(engine: Engine, file: Path) -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    guard = Guard(engine, fakeredis.FakeRedis(server=server), file)
    looked(guard, engine, 3)
    assert guard.outside(guard.look().id) == 3


def test_another_installation_is_not_concerned(engine: Engine, redis: fakeredis.FakeRedis, file: Path) -> None:
    looked(Guard(engine, redis, file), engine, 5)
    with engine.begin() as connection:
        connection.execute(text("UPDATE installation SET id = gen_random_uuid(), mark = 0"))
    assert not Guard(engine, redis, file).look().held


def test_looks_at_the_same_time_raise_no_alarm(engine: Engine, redis: fakeredis.FakeRedis, file: Path) -> None:
    guards = [Guard(engine, redis, file) for _ in range(4)]
    held = []

    def look(guard: Guard) -> None:
        for _ in range(25):
            a_second_later(engine)
            held.append(guard.look().held)

    threads = [threading.Thread(target=look, args=(guard,)) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held == [False] * 100


def test_nothing_is_claimed_from_another_incarnation_before_somebody_looked(engine: Engine, file: Path) -> None:
    service = Service(engine)
    guard = Guard(engine, None, file)
    guard.look()
    with engine.begin() as connection:
        connection.execute(text("UPDATE installation SET checked = 'another'"))
    sent = service.send().json["message_id"]
    service.sweep()
    assert service.get(f"/messages/{sent}").json["status"] == "queued"
    guard.look()
    service.sweep()
    assert service.get(f"/messages/{sent}").json["status"] == "sent"


def test_a_worker_looks_each_second(engine: Engine, file: Path) -> None:
    stop = threading.Event()
    keep_looking(Guard(engine, None, file), Outage(), stop)
    try:
        wait_until(lambda: json.loads(file.read_text() or "{}").popitem()[1] >= 3, 30, "the third look")
    finally:
        stop.set()


def test_a_dump_restored_is_held_and_released(
    engine: Engine, postgres_server: Postgres, file: Path, tmp_path: Path
) -> None:
    service, guard = Service(engine), Guard(engine, None, file)
    looked(guard, engine, 3)
    service.send("254711000001")
    dump = tmp_path / "dump.sql"
    program = Path(_binary("pg_dump"))
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    subprocess.run([program, "--clean", "--file", dump, url], check=True, timeout=120)
    looked(guard, engine, 4)
    engine.dispose()
    subprocess.run([program.with_name("psql"), "-q", "-f", dump, url], check=True, timeout=120, capture_output=True)

    open_send = service.send("254711000002").json["send_id"]
    service.sweep()
    assert service.counts(open_send)["queued"] == 1, "nobody has looked at this incarnation"
    assert guard.look().held
    service.sweep()
    assert service.counts(open_send)["queued"] == 1
    env = {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1", "SECRET_KEY": SECRET_KEY, "GUARD_FILE": str(file)}

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments), env=env)

    assert "nothing is sent" in run("doctor").output
    assert json.loads(run("guard", "show", "--json").stdout)["held"] is True
    assert "1 sends that were open are held" in run("guard", "release").output
    assert "Nothing is held" in run("guard", "release").output
    assert not guard.look().held
    assert service.get(f"/sends/{open_send}").json["status"] == "held"
    assert run("send", "release", open_send).exit_code == 0
    service.sweep()
    assert service.counts(open_send)["sent"] == 1
    with engine.connect() as connection:
        assert state_of(connection).mark > 7


def test_the_ledger_may_only_be_read_and_added_to(engine: Engine) -> None:
    Service(engine)
    for statement in ("UPDATE ledger SET amount = 1", "DELETE FROM ledger", "TRUNCATE ledger"):
        with engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                driver.execute(statement)
            connection.rollback()
