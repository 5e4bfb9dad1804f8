"""Databases for tests: empty, migrated, one for each test module."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from psycopg import OperationalError
from sqlalchemy import URL, Connection, Engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool

from api.event_loop import ThreadOnlyPool
from bulksms.local.postgres import Postgres
from shared.db.connection import driver_of, make_engine, reading
from tests.harness.house import wait_until

END_SESSIONS = text(
    "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE datname = :database AND usename = current_user"
)
"""Waits until they have ended: to drop their database, Postgres itself waits only a few seconds."""
IS_THERE = text("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = :session)")
SOMEBODY_WAITS = text(
    """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
    """
)
_api_engines: dict[URL, Engine] = {}


def api_engine(engine: Engine) -> Engine:
    """An API's engine for the same database, whose connections are for threads only."""
    if engine.url not in _api_engines:
        url = engine.url.render_as_string(hide_password=False)
        _api_engines[engine.url] = make_engine(url, application="bulksms-api", pool_class=ThreadOnlyPool)
    return _api_engines[engine.url].execution_options(**engine.get_execution_options())


def dispose(engine: Engine) -> None:
    """Close the connections of an engine and of its API's, when its threads have returned them."""
    engine.dispose()
    if (of_api := _api_engines.pop(engine.url, None)) is not None:
        pool, deadline = of_api.pool, time.monotonic() + 60
        while isinstance(pool, QueuePool) and pool.checkedout() and time.monotonic() < deadline:
            time.sleep(0.01)
        event.listen(of_api, "do_connect", _refuse)  # its application may still refresh what it has cached
        of_api.dispose()


def _refuse(*_: object) -> None:
    raise OperationalError("this database is no longer used")


def wait_until_ended(engine: Engine, connection: Connection) -> None:
    """Wait until Postgres has ended this connection's session, for which it has a reason. The engine checks."""
    session = {"session": driver_of(connection).info.backend_pid}
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as other:
        wait_until(lambda: not other.execute(IS_THERE, session).scalar_one(), 60, "the end of the session")


def wait_until_somebody_waits(engine: Engine) -> None:
    """Wait until a session of this database waits for a lock. The engine checks, each time in another transaction:
    within one, all sessions look the same."""
    with reading(engine) as connection:
        wait_until(lambda: connection.execute(SOMEBODY_WAITS).scalar_one(), 60, "somebody who waits for a lock")


@contextmanager
def disposable_database(server: Postgres) -> Iterator[Engine]:
    """A fresh database, which is dropped at the end."""
    engine = fresh_database(server)
    yield engine
    dispose(engine)
    admin = make_engine(_url(server, "postgres"), pool=1)
    try:
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(END_SESSIONS, {"database": engine.url.database})
            connection.execute(text(f"DROP DATABASE {engine.url.database}"))  # ends an autovacuum, as FORCE may not
    finally:
        admin.dispose()


def fresh_database(server: Postgres) -> Engine:
    """A new database with the schema, on a server of `make_migrated_postgres`: a copy of the migrated one there."""
    main = make_url(server.url)
    admin = make_engine(_url(server, "postgres"), pool=1)
    name = f"test_{uuid4().hex}"
    try:
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {main.database} STRATEGY file_copy"))
    finally:
        admin.dispose()
    return make_engine(_url(server, name))


def _url(server: Postgres, database: str) -> str:
    return make_url(server.url).set(database=database).render_as_string(hide_password=False)
