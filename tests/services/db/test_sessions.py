"""Each connection has a session with its settings; one whose session others use too is refused."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result
from psycopg import sql
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from api.app import create_app
from bulksms.cli import main
from bulksms.local.redis import RedisServer
from shared.db import sessions
from shared.db.connection import driver_of, is_outage, make_engine, reading, transaction
from shared.db.schema import WrongSchema, schema_problem
from shared.db.sessions import REASON, REMEDY, SessionNotKept, check_kept, set_up
from shared.settings import Settings
from shared.startup import wait_for_database
from tests.harness.house import wait_until
from tests.harness.service import SECRET_KEY

SETTINGS = {"lock_timeout": 5000, "application_name": "bulksms-test"}
NOTHING = "redis://127.0.0.1:1/0"


@pytest.fixture(scope="module", autouse=True)
def patient_sessions() -> None:
    """The sessions of this file are the service's own."""


def url_of(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


@pytest.fixture
def driver(engine: Engine) -> Iterator["psycopg.Connection[Any]"]:
    """A connection as the driver makes it, in which each statement is a transaction by itself."""
    with psycopg.connect(url_of(engine).replace("+psycopg", "", 1), autocommit=True) as connection:
        yield connection


@pytest.fixture
def other(engine: Engine) -> Iterator["psycopg.Connection[Any]"]:
    """Another one."""
    with psycopg.connect(url_of(engine).replace("+psycopg", "", 1)) as connection:
        yield connection


@pytest.fixture
def one_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All connections of this process are one, as behind a pooler in transaction mode that has one session."""
    connect, opened = psycopg.connect, list["psycopg.Connection[Any]"]()

    def share(*arguments: Any, **parameters: Any) -> "psycopg.Connection[Any]":
        if not opened or opened[-1].closed:
            opened.append(connect(*arguments, **parameters))
        return opened[-1]

    monkeypatch.setattr(psycopg, "connect", share)
    yield
    for connection in opened:
        connection.close()


def setting(connection: "psycopg.Connection[Any]", name: str) -> Any:
    row = connection.execute("SELECT current_setting(%s, true)", (name,)).fetchone()
    return row and row[0]


def test_the_settings_hold_where_the_role_has_others(engine: Engine) -> None:
    role = engine.url.username
    other = {"lock_timeout": "0", "statement_timeout": "0", "timezone": "Africa/Nairobi", "jit": "on"}
    with engine.begin() as connection:
        for name, value in other.items():
            connection.exec_driver_sql(f"ALTER ROLE {role} IN DATABASE {engine.url.database} SET {name} = '{value}'")
    mine = make_engine(url_of(engine), application="bulksms-worker")
    try:
        with reading(mine) as connection:
            names = (*other, "idle_in_transaction_session_timeout", "application_name")
            found = {name: connection.execute(text(f"SHOW {name}")).scalar_one() for name in names}
    finally:
        mine.dispose()
        with engine.begin() as connection:
            connection.exec_driver_sql(f"ALTER ROLE {role} IN DATABASE {engine.url.database} RESET ALL")
    assert found == {
        "lock_timeout": "5s",
        "statement_timeout": "1min",
        "timezone": "UTC",
        "jit": "off",
        "idle_in_transaction_session_timeout": "10s",
        "application_name": "bulksms-worker",
    }


def test_a_statement_ends_soon_after_its_client_has_gone(engine: Engine) -> None:
    """As after a kill: the kernel closes the socket while Postgres executes, with locks held."""
    mine = make_engine(url_of(engine), application="bulksms-worker")
    connection = mine.connect()
    driver = driver_of(connection)
    driver.execute("SET statement_timeout = 0")
    driver.execute("SELECT pg_advisory_lock(7)")
    driver.pgconn.send_query(b"SELECT pg_sleep(600)")
    running = text("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = :pid AND wait_event = 'PgSleep')")
    free = text("SELECT pg_try_advisory_xact_lock(7)")
    pid = driver.info.backend_pid
    with reading(engine) as other:
        wait_until(lambda: other.execute(running, {"pid": pid}).scalar_one(), 60, "the statement")
        assert not other.execute(free).scalar_one()
        driver.pgconn.finish()
        wait_until(lambda: other.execute(free).scalar_one(), 60, "the lock")
    connection.invalidate()
    mine.dispose()


def test_settings_left_by_an_earlier_client_of_a_pooler_are_cleared(driver: "psycopg.Connection[Any]") -> None:
    driver.execute("SET enable_seqscan = off")
    driver.execute("PREPARE _pg3_0 AS SELECT 1")
    set_up(driver, SETTINGS)
    assert setting(driver, "enable_seqscan") == "on"
    driver.execute("SELECT 7", prepare=True)  # the driver's first name is the same


def test_a_session_that_two_connections_share_is_refused(driver: "psycopg.Connection[Any]") -> None:
    shown = set_up(driver, SETTINGS)
    with pytest.raises(SessionNotKept, match="pool_mode = session"):
        check_kept(driver, shown, driver, set_up(driver, SETTINGS))


@pytest.mark.parametrize("loses", ["DISCARD ALL", "SET lock_timeout = 0"])
def test_a_session_that_loses_its_settings_is_refused(
    driver: "psycopg.Connection[Any]", other: "psycopg.Connection[Any]", loses: str
) -> None:
    shown, others = set_up(driver, SETTINGS), set_up(other, SETTINGS)
    driver.execute(loses)
    with pytest.raises(SessionNotKept):
        check_kept(driver, shown, other, others)
    with pytest.raises(SessionNotKept):
        check_kept(other, others, driver, shown)


def test_waiting_for_a_session_is_limited(
    driver: "psycopg.Connection[Any]", engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SESSION_SECONDS", 0.2)
    monkeypatch.setattr(sessions, "SET_UP", sql.SQL("SELECT pg_sleep(600)::text, {}"))
    mine = make_engine(url_of(engine), pool=1)
    with pytest.raises(OperationalError, match="no session in time"), reading(mine):
        pass
    mine.dispose()


@pytest.mark.usefixtures("one_session")
def test_no_process_starts_where_sessions_are_shared(engine: Engine) -> None:
    mine = make_engine(url_of(engine), pool=1)
    assert schema_problem(mine) == f"{REASON} {REMEDY}"
    with pytest.raises(WrongSchema, match="do not keep their sessions"):
        wait_for_database(mine, 600.0)
    mine.dispose()


@pytest.mark.usefixtures("one_session")
def test_the_api_serves_nothing_where_sessions_are_shared(engine: Engine) -> None:
    settings = Settings(
        database_url=url_of(engine),
        redis_url=NOTHING,
        broker_url=NOTHING,
        secret_key=SECRET_KEY,
        eager=True,
        simulated=True,
    )
    client = create_app(settings).test_client()
    ready = client.get("/readyz")
    assert (ready.status_code, REMEDY in ready.json["status"]) == (503, True)
    response = client.post("/api/v1/auth/token", json={"api_key": "k" * 20, "api_secret": "s" * 40})
    assert (response.status_code, response.json["code"]) == (503, "unavailable")


def bulksms(engine: Engine, redis: RedisServer, *arguments: str) -> Result:
    env = {
        "DATABASE_URL": url_of(engine),
        "REDIS_URL": redis.url,
        "SECRET_KEY": SECRET_KEY,
        "CARRIER": "simulator",
    }
    return CliRunner().invoke(main, arguments, env=env)


def sessions_found(engine: Engine, redis: RedisServer) -> dict[str, str]:
    report = json.loads(bulksms(engine, redis, "doctor", "--json").stdout)
    (found,) = (finding for finding in report if finding["name"] == "sessions")
    return {name: found[name] for name in ("outcome", "detail", "remedy")}


@pytest.mark.usefixtures("one_session")
def test_the_command_line_reports_that_sessions_are_shared(engine: Engine, redis_server: RedisServer) -> None:
    assert sessions_found(engine, redis_server) == {"outcome": "wrong", "detail": REASON, "remedy": REMEDY}
    listed = bulksms(engine, redis_server, "account", "list")
    assert (listed.exit_code, listed.stderr.split()) == (1, ["Error:", *REASON.split(), *REMEDY.split()])


def test_two_results_for_one_commit_count_as_an_outage(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def commit(connection: "psycopg.Connection[Any]") -> None:
        connection.close()
        raise psycopg.InternalError("received 2 results from command 'COMMIT'")

    monkeypatch.setattr(psycopg.Connection, "commit", commit)
    with pytest.raises(OperationalError) as ended, transaction(engine) as connection:
        connection.execute(text("SELECT 1"))
    assert is_outage(ended.value)
