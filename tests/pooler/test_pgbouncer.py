"""The service behind a real PgBouncer: `make pooler`.

Where PgBouncer is not installed these tests fail: they are run only when they are asked for.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres
from shared.db.connection import UNAVAILABLE, copy_rows, driver_of, is_outage, make_engine, reading
from shared.db.schema import WrongSchema
from shared.db.sessions import has_pooler
from shared.startup import wait_for_database
from tests.harness.database import fresh_database
from tests.harness.house import House, wait_until
from tests.pooler.pgbouncer import pgbouncer
from tests.services.local.test_start import SCRIPTS

pytestmark = pytest.mark.pooler
SHARING = pytest.mark.parametrize("mode", ["transaction", "statement"])
COUNT = text("SELECT count(*) FROM account")
PROCESS = text("SELECT pg_backend_pid()")
END = text("SELECT pg_terminate_backend(:pid)")
LIVES = text("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = :pid)")


@pytest.fixture(scope="module")
def url(postgres_server: Postgres) -> Iterator[str]:
    """A migrated, empty database, without the pooler."""
    engine = fresh_database(postgres_server)
    yield engine.url.render_as_string(hide_password=False)
    engine.dispose()


@contextlib.contextmanager
def engine_of(url: str, application: str = "bulksms-test", *, by_key: bool = False) -> Iterator[Engine]:
    engine = make_engine(url, 2, application, by_key=by_key)
    try:
        yield engine
    finally:
        engine.dispose()


def shown(engine: Engine, *names: str) -> tuple[str, ...]:
    with reading(engine) as connection:
        return tuple(connection.execute(text(f"SHOW {name}")).scalar_one() for name in names)


@pytest.fixture(scope="module", autouse=True)
def patient_sessions() -> None:
    """The sessions of this file are the service's own."""


def execute_often(engine: Engine) -> None:
    """So often that the driver prepares the statement, on two connections."""
    for _ in range(8):
        with reading(engine) as one, reading(engine) as two:
            one.execute(COUNT)
            two.execute(COUNT)


@pytest.mark.parametrize("server_reset_query", ["DISCARD ALL", ""])
@pytest.mark.parametrize("server_round_robin", [0, 1])
def test_it_works(url: str, server_reset_query: str, server_round_robin: int) -> None:
    settings = {"server_reset_query": server_reset_query, "server_round_robin": server_round_robin}
    with pgbouncer(url, "session", **settings) as pooler:
        with engine_of(pooler.url, "bulksms-worker", by_key=True) as worker:
            wait_for_database(worker, 0)
            assert shown(worker, "enable_seqscan", "application_name") == ("off", "bulksms-worker")
            execute_often(worker)
        for _ in range(2):
            with engine_of(pooler.url) as engine:
                wait_for_database(engine, 0)
                names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "timezone")
                assert shown(engine, *names) == ("5s", "1min", "10s", "UTC")
                assert shown(engine, "enable_seqscan", "application_name") == ("on", "bulksms-test")
                execute_often(engine)
                with reading(engine) as connection:
                    assert has_pooler(driver_of(connection))


@SHARING
@pytest.mark.parametrize("server_round_robin", [0, 1])
@pytest.mark.parametrize("idle", [0, 2, 3])
def test_shared_sessions_are_refused(url: str, mode: str, server_round_robin: int, idle: int) -> None:
    with pgbouncer(url, mode, server_round_robin=server_round_robin, min_pool_size=idle) as pooler:
        for _ in range(3):
            with engine_of(pooler.url) as engine, pytest.raises(WrongSchema, match="pool_mode = session"):
                wait_for_database(engine, 600)


@pytest.mark.parametrize("then", ["BEGIN", "SELECT", "COPY", "COMMIT", "ROLLBACK"])
def test_the_end_of_a_session_is_an_outage(url: str, then: str) -> None:
    with pgbouncer(url, "session") as pooler, engine_of(pooler.url, f"bulksms-{then}") as engine:
        with pytest.raises(UNAVAILABLE) as ended, engine.connect() as connection:
            process = connection.execute(PROCESS).scalar_one()
            if then == "BEGIN":
                connection.rollback()
            with engine_of(url) as direct, reading(direct) as other:
                other.execute(END, {"pid": process})
                wait_until(lambda: not other.execute(LIVES, {"pid": process}).scalar_one(), 10, "its end")
            if then == "COMMIT":
                connection.commit()
            elif then == "ROLLBACK":
                connection.rollback()
            elif then == "COPY":
                copy_rows(connection, "revoked_token", "id, expires_at", "")
            else:
                connection.execute(COUNT)
        assert is_outage(ended.value)
        execute_often(engine)


def test_the_whole_service(tmp_path: Path) -> None:
    house = House(tmp_path)
    with pgbouncer(house.postgres.url, "session") as pooler:
        house.env["DATABASE_URL"] = pooler.url
        try:
            house.start(2)
            house.start_webhooks()
            account = house.new_account()
            group = house.new_group(account, 2_000)
            house.post("/sms/send-group", group_id=group, sender_id="ACME", message="Hello")
            for number in range(50):
                house.post("/sms/send", sender_id="ACME", phone=str(254711000000 + number), message="Hi")
            house.wait_for_end()
            assert house.scalar("SELECT count(*) FROM message WHERE status = 'delivered'") == 2_050
            assert house.most_submits() == 1
            assert house.scalar("SELECT count(*) FROM doubt") == 0
            env = {**os.environ, **house.env}
            command = [str(SCRIPTS / "bulksms"), "doctor"]
            output = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False).stdout
            assert "kept for each connection, through a pooler" in " ".join(output.split())
        finally:
            house.stop()
