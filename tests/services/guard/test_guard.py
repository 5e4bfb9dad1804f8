"""A database that went back in time sends nothing, until an operator says so."""

import json
import subprocess
import threading
from pathlib import Path
from uuid import UUID, uuid4

import fakeredis
import psycopg
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from bulksms.cli import main
from bulksms.local.postgres import Postgres, _binary
from shared.db.connection import make_engine
from shared.guard import Guard, Witness, release, state_of
from shared.guard.state import WRITTEN_NOW
from shared.guard.verdict import PATIENCE_SECONDS, SETTLE_SECONDS, STALE
from shared.health.restore_guard import check_guard
from shared.sends.holding import hold_sends
from tests.harness.database import fresh_database
from tests.harness.house import wait_until
from tests.harness.own_database import own_database
from tests.harness.service import SECRET_KEY, Service
from tests.harness.sql import Database
from tests.harness.times import ahead
from worker.outages import Outage
from worker.recovery.database_guard import keep_checking

engine = own_database


@pytest.fixture
def redis() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mark.json"


def worker_guard(engine: Engine, redis: fakeredis.FakeRedis | None, file: Path | None) -> Guard:
    return Guard(engine, redis, file, Witness(), str(uuid4()))


def a_second_later(engine: Engine) -> None:
    past = "UPDATE installation SET looked_at = looked_at - interval '1 s'"
    Database(engine).execute(f"{past}, written = {WRITTEN_NOW}")


def examined_for(engine: Engine, seconds: float) -> None:
    """Lets the first check of this incarnation be that much longer ago."""
    past = "UPDATE installation SET examined_since = examined_since - make_interval(secs => :seconds)"
    Database(engine).execute(f"{past}, written = {WRITTEN_NOW}", seconds=seconds)


def go_back(engine: Engine, by: int) -> None:
    Database(engine).execute("UPDATE installation SET mark = mark - :by", by=by)


def database_clock(engine: Engine) -> float:
    return float(Database(engine).scalar("SELECT extract(epoch FROM clock_timestamp())"))


def filled_anew(engine: Engine) -> None:
    """Gives the table another file, as a restore does and a start need not: the incarnation is another one."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM FULL installation"))


def looked(guard: Guard, engine: Engine, times: int) -> None:
    for _ in range(times):
        a_second_later(engine)
        assert not guard.check().held


def test_the_mark_rises_once_a_second(engine: Engine) -> None:
    guard = worker_guard(engine, None, None)
    before, began = guard.check().mark, database_clock(engine)
    looked(guard, engine, 3)
    for _ in range(20):
        after = guard.check().mark
    assert before + 3 <= after <= before + 3 + 1 + (database_clock(engine) - began) / 0.9


@pytest.mark.parametrize("kept", ["redis", "file"])
def test_one_note_is_enough(engine: Engine, redis: fakeredis.FakeRedis, file: Path, kept: str) -> None:
    looked(worker_guard(engine, redis, file), engine, 5)
    go_back(engine, 3)
    other = worker_guard(engine, redis if kept == "redis" else None, file if kept == "file" else None)
    state = other.check()
    assert (state.held, state.behind, state.mark) == (True, 3, 2)
    a_second_later(engine)
    assert other.check().mark == 2, "what is held does not rise until it would not be noticed any more"


@pytest.mark.parametrize("content", ["{", "[]", "7", '{"a": 1}', "\x00"])
def test_without_a_readable_note_nothing_is_held(engine: Engine, file: Path, content: str) -> None:
    looked(worker_guard(engine, None, file), engine, 5)
    go_back(engine, 3)
    file.write_text(content)
    guard = worker_guard(engine, None, file)
    assert not guard.check().held
    a_second_later(engine)
    state = guard.check()
    assert json.loads(file.read_text())[str(state.id)] == state.mark


def test_each_worker_keeps_its_own_file_up_to_date(
    engine: Engine, redis: fakeredis.FakeRedis, file: Path, tmp_path: Path
) -> None:
    raising, other = worker_guard(engine, redis, file), worker_guard(engine, redis, tmp_path / "other.json")
    for _ in range(3):
        a_second_later(engine)
        raising.check()
        state = other.check()
        assert other.notes.in_file(state.id).mark == state.mark


def doctors_finding(engine: Engine, file: Path) -> tuple[str, str]:
    with engine.connect() as connection:
        found = check_guard(connection, file)
    return found.outcome, found.detail


def test_the_doctor_finds_a_file_that_workers_do_not_write(engine: Engine, file: Path) -> None:
    guard = worker_guard(engine, None, file)
    looked(guard, engine, 5)
    assert doctors_finding(engine, file)[0] == "ok"
    file.unlink()
    outcome, detail = doctors_finding(engine, file)
    assert outcome == "notice" and "not on this machine" in detail, "another machine's workers may write theirs"
    file.mkdir()
    outcome, detail = doctors_finding(engine, file)
    assert outcome == "wrong" and "cannot be read: Is a directory" in detail
    file.rmdir()
    file.write_text("[]")
    assert "not a JSON object" in doctors_finding(engine, file)[1]
    state = guard.check()
    file.write_text(json.dumps({str(state.id): state.mark - STALE - 1}))
    Database(engine).execute("UPDATE lease SET held_until = clock_timestamp() + interval '50 s'")
    outcome, detail = doctors_finding(engine, file)
    assert outcome == "wrong" and f"{STALE + 1} s behind" in detail
    Database(engine).execute("DELETE FROM lease")
    assert doctors_finding(engine, file)[0] == "ok", "no worker runs"


def test_a_broken_redis_is_left_alone_for_a_while(engine: Engine, file: Path) -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    guard = worker_guard(engine, fakeredis.FakeRedis(server=server), file)
    looked(guard, engine, 3)
    state = guard.check()
    assert guard.notes.in_file(state.id).mark == state.mark >= 3


def test_simultaneous_checks_hold_nothing(engine: Engine, redis: fakeredis.FakeRedis, file: Path) -> None:
    guards = [worker_guard(engine, redis, file) for _ in range(4)]
    held = []

    def check(guard: Guard) -> None:
        for _ in range(25):
            a_second_later(engine)
            held.append(guard.check().held)

    threads = [threading.Thread(target=check, args=(guard,)) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held == [False] * 100


def test_nothing_is_claimed_from_another_incarnation_before_a_check(engine: Engine, file: Path) -> None:
    service = Service(engine)
    guard = worker_guard(engine, None, file)
    guard.check()
    filled_anew(engine)
    sent = service.send().json["message_id"]
    service.sweep()
    assert service.get(f"/messages/{sent}").json["status"] == "queued"
    guard.check()
    service.sweep()
    assert service.get(f"/messages/{sent}").json["status"] == "sent"


def test_a_worker_looks_each_second(engine: Engine, file: Path) -> None:
    stop = threading.Event()
    keep_checking(worker_guard(engine, None, file), Outage(), stop)
    try:
        wait_until(lambda: json.loads(file.read_text() or "{}").popitem()[1] >= 3, 60, "the third look")
    finally:
        stop.set()


def test_a_dump_restored_is_held_and_released(
    engine: Engine, postgres_server: Postgres, file: Path, tmp_path: Path
) -> None:
    service, guard = Service(engine), worker_guard(engine, None, file)
    looked(guard, engine, 3)
    service.send("254711000001")
    held = service.send("254711000003", send_at=ahead()).json["send_id"]
    with engine.begin() as connection:  # by its own rule, so that its owner could go on with it
        assert hold_sends(connection, [UUID(held)], "canary", "Its first messages wait for receipts.")
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
    assert guard.check().held
    service.sweep()
    assert service.counts(open_send)["queued"] == 1
    env = {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1", "SECRET_KEY": SECRET_KEY, "GUARD_FILE": str(file)}

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments), env=env)

    assert "nothing is sent" in run("doctor").output
    assert json.loads(run("guard", "show", "--json").stdout)["held"] is True
    released = run("guard", "release").output
    assert "2 sends that were open are held" in released
    assert "opt-outs, revoked keys, suspensions" in released
    assert "Nothing is held" in run("guard", "release").output
    assert not guard.check().held
    assert service.get(f"/sends/{open_send}").json["status"] == "held"
    assert service.get(f"/sends/{held}").json["held_by"] == "operator", "whatever held it before"
    assert service.post(f"/sends/{held}/resume").status_code == 409
    assert run("send", "release", open_send).exit_code == 0
    service.sweep()
    assert service.counts(open_send)["sent"] == 1
    with engine.connect() as connection:
        assert state_of(connection).mark > 7


def test_a_dump_restored_is_held_without_any_witness(engine: Engine, postgres_server: Postgres, tmp_path: Path) -> None:
    worker_guard(engine, None, None).check()
    other = fresh_database(postgres_server)
    program, dump = Path(_binary("pg_dump")), tmp_path / "dump.sql"
    source, target = (each.url.set(drivername="postgresql").render_as_string(False) for each in (engine, other))
    subprocess.run([program, "--clean", "--if-exists", "--file", dump, source], check=True, timeout=120)
    subprocess.run([program.with_name("psql"), "-q", "-f", dump, target], check=True, timeout=120, capture_output=True)
    state = worker_guard(other, None, None).check()
    other.dispose()
    assert state.held
    assert state.reason is not None
    assert "restored from a dump, or copied" in state.reason


def test_a_copy_within_the_server_is_held(engine: Engine, postgres_server: Postgres) -> None:
    worker_guard(engine, None, None).check()
    engine.dispose()
    name = f"copy_{uuid4().hex}"
    admin = make_engine(engine.url.set(database="postgres").render_as_string(False), pool=1)
    with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {engine.url.database}"))
    admin.dispose()
    copy = make_engine(engine.url.set(database=name).render_as_string(False), pool=1)
    state = worker_guard(copy, None, None).check()
    copy.dispose()
    assert state.held


@pytest.mark.parametrize("worker", ["a-worker", None])
@pytest.mark.parametrize("lacks", ["claim", "send"])
def test_what_a_process_saw_committed_must_be_there(engine: Engine, worker: str | None, lacks: str) -> None:
    service, witness = Service(engine), Witness()
    send = UUID(service.send().json["send_id"])
    batch = Database(engine).scalar("SELECT id FROM batch")
    witness.claimed(batch, 1)
    witness.accepted(send)
    worker_guard(engine, None, None).check()
    guard = Guard(engine, None, None, witness, worker)
    assert not guard.check().held
    if lacks == "claim":
        witness.claimed(batch, 2)
    else:
        witness.accepted(uuid4())
    assert not guard.check().held, "the database is the same"
    filled_anew(engine)
    state = guard.check()
    assert state.held
    assert state.reason is not None
    assert "lacks commits" in state.reason
    assert Database(engine).transact(release, 0)
    filled_anew(engine)
    assert not guard.check().held, "the operator has confirmed it"


def claim_and_lose(engine: Engine, file: Path, seconds: int) -> None:
    """A worker claims a batch and is gone; that many marks later, the database lacks the claim."""
    service = Service(engine, guard_file=file)
    guard = Guard(engine, None, file, service.worker.witness, str(uuid4()))
    looked(guard, engine, 2)
    service.send()
    looked(guard, engine, seconds)
    assert len(Database(engine).execute("UPDATE batch SET epoch = epoch - 1 WHERE epoch > 0 RETURNING id")) == 1
    filled_anew(engine)


def test_claims_outlive_the_processes(engine: Engine, file: Path) -> None:
    """The files of the database were set back by less than a second, and all processes have ended."""
    claim_and_lose(engine, file, 0)
    again = Guard(engine, None, file, Witness(file), "again")
    state = again.check()
    assert state.held and state.reason is not None and "lacks commits" in state.reason
    assert Database(engine).transact(release, 0)
    filled_anew(engine)
    assert not again.check().held, "the operator has confirmed it"


def test_processes_remember_what_they_accept_and_claim(engine: Engine, postgres_server: Postgres) -> None:
    service, empty = Service(engine), fresh_database(postgres_server)
    witness = service.flask.extensions["bulksms"].commits.witness
    for headers in ({}, {"Idempotency-Key": "one"}):
        assert service.send(headers=headers).status_code == 200
        with empty.connect() as connection:
            assert witness.lost(connection, state_of(connection)) > 0
        witness.forget()
    service.sweep()
    with empty.connect() as connection:
        assert service.worker.witness.lost(connection, state_of(connection)) > 0
    empty.dispose()


def test_a_copy_without_the_guard_file_of_the_original_is_held(engine: Engine, file: Path) -> None:
    looked(worker_guard(engine, None, file), engine, 3)
    filled_anew(engine)
    elsewhere = worker_guard(engine, None, file.with_name("elsewhere.json"))
    state = elsewhere.check()
    assert not state.held
    assert not state.confirmed
    examined_for(engine, PATIENCE_SECONDS)
    state = elsewhere.check()
    assert state.held
    assert state.reason is not None
    assert "GUARD_FILE" in state.reason


def promoted(engine: Engine) -> None:
    """The database says that it was on another timeline when it was last confirmed."""
    Database(engine).execute(f"UPDATE installation SET timeline = '00000000', written = {WRITTEN_NOW}")
    filled_anew(engine)


@pytest.mark.parametrize("lacks", [True, False])
def test_a_promoted_standby_is_not_confirmed_before_the_api_has_compared_it(engine: Engine, lacks: bool) -> None:
    witness, worker = Witness(), worker_guard(engine, None, None)
    api = Guard(engine, None, None, witness, api="one")
    for _ in range(2):
        looked(worker, engine, 1)
        assert not api.check().held
    if lacks:
        witness.accepted(uuid4())
    promoted(engine)
    assert not worker.check().confirmed
    examined_for(engine, SETTLE_SECONDS)
    assert not worker.check().confirmed, "the API has not compared it yet"
    assert api.check().held is lacks
    state = worker.check()
    assert (state.confirmed, state.held) == (not lacks, lacks)


def test_the_ledger_may_only_be_read_and_added_to(engine: Engine) -> None:
    Service(engine)
    for statement in ("UPDATE ledger SET amount = 1", "DELETE FROM ledger", "TRUNCATE ledger"):
        with engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                driver.execute(statement)
            connection.rollback()
