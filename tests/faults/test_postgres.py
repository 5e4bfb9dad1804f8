"""Faults of Postgres and of the way to it."""

import contextlib
import time

import psycopg
import pytest
from sqlalchemy import text

from shared.db.connection import driver_of
from tests.faults.ground import LEASE, RATE, WINDOW, Fault
from tests.harness.house import STEADY, wait_until

ONE_CRASH = 2 * (WINDOW + RATE)
"""In doubt after one loss of the database: two workers' windows, as the carrier's own books are in the same database,
and what they had claimed, at most a second of the carrier's rate each, when the claim's commit got no response."""


def has_refused(fault: Fault) -> None:
    """The fault was felt: some requests got 503 or no response."""
    assert fault.traffic.failures()


def test_restarted(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        house.postgres.stop("fast")
        time.sleep(2)
        house.postgres.start()
    has_refused(fault)
    fault.check(in_doubt=ONE_CRASH)


@pytest.mark.slow
def test_killed(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        for _ in range(2):
            before = fault.traffic.failures()
            house.postgres.kill()
            wait_until(lambda before=before: fault.traffic.failures() > before, 60, "a request that fails")
            house.postgres.start()
            time.sleep(1)
    has_refused(fault)
    fault.check(in_doubt=2 * ONE_CRASH)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [STEADY])
def test_lost_at_commit(fault: Fault) -> None:
    """A request may get its response all the same: its commit is repeated."""
    proxy = fault.house.proxy("api", "postgres")
    with fault.workload():
        for delivered in (True, False):
            before = proxy.cuts
            proxy.cut_at(b"COMMIT", delivered=delivered)
            wait_until(lambda before=before: proxy.cuts > before + 5, 60, "commits that were cut")
        proxy.heal()
    fault.check()


def test_no_connection_left(fault: Fault) -> None:
    house = fault.house
    taken: list[psycopg.Connection] = []
    with fault.workload(), contextlib.ExitStack() as stack:
        deadline = time.monotonic() + 8
        while time.monotonic() < deadline:
            try:
                taken.append(psycopg.connect(house.postgres.url.replace("+psycopg", "", 1)))
                stack.callback(taken[-1].close)
            except psycopg.OperationalError:
                others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bulksms-api'"
                with contextlib.suppress(psycopg.OperationalError):
                    taken[0].execute(others)
                    taken[0].commit()
                time.sleep(0.1)
        assert len(taken) > 100
    has_refused(fault)
    fault.check(in_doubt=ONE_CRASH)


def test_answers_late(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        for process in ("api", "worker"):
            house.proxy(process, "postgres").latency = 0.5
        time.sleep(15)
        for process in ("api", "worker"):
            house.proxy(process, "postgres").heal()
    fault.check(in_doubt=ONE_CRASH)


def test_goes_silent(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        proxies = [house.proxy(process, "postgres") for process in ("api", "worker")]
        for proxy in proxies:
            proxy.blackhole = True
        time.sleep(12)
        for proxy in proxies:
            proxy.heal()
            proxy.cut()
    has_refused(fault)
    fault.check(in_doubt=ONE_CRASH)


def test_a_held_lock(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        mine = house.token
        house.new_account("bystander")
        with house.engine.connect() as connection:
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            assert connection.execute(text("SELECT FROM account WHERE name LIKE 'sender-%' FOR UPDATE")).rowcount == 1
            began = time.monotonic()
            response = house.post("/sms/send", sender_id="ACME", phone=str(house.phones(1)), message="Hi")
            bystander = time.monotonic() - began
            fault.sends[response["send_id"]] = 1
            time.sleep(12)  # what waits behind a worker waits for as long twice
        house.token = mine
    assert 503 in {each.status for wanted in fault.traffic.wanted for each in wanted.tries}
    assert bystander < 5, "another account is not concerned"
    fault.check(in_doubt=ONE_CRASH)


DEADLOCKS = """
CREATE SEQUENCE trouble;
GRANT ALL ON trouble TO PUBLIC;
CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE n bigint := nextval('trouble');
BEGIN
    IF n % 4 = 0 THEN RAISE EXCEPTION 'injected' USING ERRCODE = 'deadlock_detected'; END IF;
    IF n % 4 = 2 THEN RAISE EXCEPTION 'injected' USING ERRCODE = 'serialization_failure'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER trouble AFTER INSERT ON send FOR EACH STATEMENT EXECUTE FUNCTION trouble();
CREATE TRIGGER trouble AFTER UPDATE ON batch FOR EACH STATEMENT EXECUTE FUNCTION trouble();
"""


def test_deadlocks(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        with house.engine.begin() as connection:
            driver_of(connection).execute(DEADLOCKS)
        time.sleep(6)
        for table in ("send", "batch"):  # one by one: to lock both is a deadlock with a writer of both
            with house.engine.begin() as connection:
                driver_of(connection).execute(f"DROP TRIGGER trouble ON {table}")
    has_refused(fault)
    fault.check(in_doubt=ONE_CRASH)


def test_a_worker_cut_off(fault: Fault) -> None:
    house = fault.house
    proxy = house.proxy("worker", "postgres")
    with fault.workload():
        proxy.blackhole = True
        time.sleep(10)
        proxy.heal()
        proxy.refusing = True
        proxy.cut()
        time.sleep(3)
        proxy.refusing = False
    fault.check(in_doubt=ONE_CRASH)


def test_lost_while_a_worker_starts(fault: Fault) -> None:
    """A worker that lives does its work: what it could not ask the database as it started, it asks again."""
    house, proxy = fault.house, fault.house.proxy("worker", "postgres")
    alive = "SELECT count(*) FROM lease WHERE name LIKE 'worker:%' AND held_until > clock_timestamp()"
    with fault.workload():
        while house.workers:
            house.kill_worker()
        wait_until(lambda: not house.scalar(alive), 30, "the end of the workers' leases")
        proxy.cut_at(b"FROM text_key", delivered=False)
        before = proxy.cuts
        house.start_workers_blindly(2)
        wait_until(lambda: proxy.cuts >= before + 2, 60, "queries that were cut")
        proxy.heal()
    house.wait_reviving(lambda: house.scalar(alive) == 2, LEASE + 10, "two workers that work")
    fault.check(in_doubt=2 * WINDOW)
