"""Connections to Postgres, with a bound on everything that could wait for ever."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import Connection, Engine, ExceptionContext, TextClause, create_engine, event
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from shared.crashpoints import crashpoint
from shared.db.cancellation import current_cancellation
from shared.db.sessions import Sessions
from shared.encryption import Texts

AWAY = (
    OperationalError,
    InterfaceError,
    PoolTimeoutError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,
)
"""The database did not answer, or gave up. The driver's own errors come from where it is used without SQLAlchemy."""

OF_ONE_STATEMENT = frozenset({"57014", "55P03", "40P01", "40001"})
"""SQLSTATE of what the database says of one statement and the driver calls operational: it took too long, waited too
long for a lock, met a deadlock, or could not be serialized."""

CONNECT_SECONDS = 5
LOCK_MILLISECONDS = 5_000
STATEMENT_MILLISECONDS = 60_000
IDLE_MILLISECONDS = 10_000
"""A process that stops inside a transaction holds its locks for as long, and no longer
(worker/recovery/stalled_sessions.py)."""

SESSION = {
    "timezone": "UTC",
    "lock_timeout": LOCK_MILLISECONDS,
    "statement_timeout": STATEMENT_MILLISECONDS,
    "idle_in_transaction_session_timeout": IDLE_MILLISECONDS,
    "jit": "off",
    "max_parallel_workers_per_gather": 0,  # an audit takes one core from what is sent meanwhile, not all
    "random_page_cost": 1.1,  # what is looked for by key is new, and so in memory
}

PARAMETER = re.compile(r"(?<![:\w\\]):(\w+)(?![:\w])")
"""As SQLAlchemy's `text` names one."""

STARTED = "GREATEST(pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())"
"""SQL: when the database last began with what was on its disk, and lost every commit that had not reached it.

That is at each start, and whenever one of its processes crashes: then the others end and begin anew under the same
postmaster, whose start does not change. Such a recovery resets all statistics (PostgreSQL documentation, "The
Cumulative Statistics System").
"""


def make_engine(
    url: str,
    pool: int = 8,
    application: str = "bulksms",
    *,
    by_key: bool = False,
    texts: Texts | None = None,
    pool_class: type[QueuePool] = QueuePool,
) -> Engine:
    """An engine whose sessions are in UTC at READ COMMITTED and give up on locks, statements and dead peers.

    `by_key` is for sessions that look for everything by an index, as a worker's do. A plan that Postgres made while a
    table was small, and keeps, would read the whole of it long after it has grown. `texts` encrypts the texts in the
    database; `texts_of` finds it. `pool_class` is who hands out connections.
    """
    settings = SESSION | (
        dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin"), "off") if by_key else {}
    )
    engine = create_engine(
        url,
        poolclass=pool_class,
        pool_size=pool,
        max_overflow=4,
        pool_timeout=2,
        pool_pre_ping=False,
        pool_use_lifo=True,
        execution_options={"texts": texts or Texts()},
        hide_parameters=True,  # an error is logged, and phones and texts are not
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": 10_000,
            "keepalives_idle": 15,
        },
    )
    event.listen(engine, "do_connect", Sessions({"application_name": application, **settings}).connect)
    event.listen(engine, "handle_error", _named_as_away, retval=True)
    return engine


def _named_as_away(failure: ExceptionContext) -> Exception | None:
    """A session that ended is an outage, and the driver calls some of its ends an internal error.

    So it calls the end of a process that stood still in a transaction, and an end behind PgBouncer, which tells it once
    more: two answers to one COMMIT.
    """
    error = failure.original_exception
    if not (isinstance(error, psycopg.InternalError) and failure.is_disconnect):
        return None
    return OperationalError(failure.statement, None, error, hide_parameters=True, connection_invalidated=True)


def is_outage(error: Exception) -> bool:
    """Whether the database is away, rather than that it refused what it was asked."""
    if getattr(getattr(error, "orig", error), "sqlstate", None) in OF_ONE_STATEMENT:
        return False
    return isinstance(error, AWAY) or (isinstance(error, DBAPIError) and error.connection_invalidated)


@contextmanager
def transaction(engine: Engine, *, durable: bool = True) -> Iterator[Connection]:
    """One transaction, committed at the end of the block.

    With `durable=False` the commit does not wait for the disk: a crash of the database may undo it, and only what is
    trusted within one start of the database may rely on it.
    """
    with engine.begin() as connection:
        if not durable:
            driver_of(connection).execute("SET LOCAL synchronous_commit = off")
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection for what only reads: each statement is a transaction by itself.

    The end of a transaction that wrote nothing would be a rollback: a round trip, and with it the driver forgets every
    statement that it had prepared on this connection, whoever uses it next (psycopg, "Prepared statements").

    In a request that may be cancelled, its statements end when the client leaves. Raises Cancelled then.
    """
    cancellation = current_cancellation()
    with _autocommit(engine) as connection:
        if cancellation is None:
            yield connection
        else:
            with cancellation.covering(connection):
                yield connection


def _autocommit(engine: Engine) -> Connection:
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def durable_statement(engine: Engine) -> Iterator[Connection]:
    """A connection for one statement that writes, a transaction by itself: one round trip, durable as `transaction`."""
    with _autocommit(engine) as connection:
        yield connection


@contextmanager
def async_commit_statement(engine: Engine) -> Iterator[Connection]:
    """A connection for one statement that writes, a transaction by itself: one round trip.

    The statement selects `ASYNC_COMMIT`: then its commit does not wait for the disk, as with `durable=False`.
    """
    with _autocommit(engine) as connection:
        yield connection


ASYNC_COMMIT = "set_config('synchronous_commit', 'off', true)"


def driver_of(connection: Connection) -> "psycopg.Connection[Any]":
    """The driver's own connection, for what is too frequent to go through SQLAlchemy, in the same transaction."""
    driver: psycopg.Connection[Any] | None = connection.connection.driver_connection
    assert driver is not None
    return driver


def tuples_of(connection: Connection, statement: TextClause, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement as the driver has them: to unpack those of SQLAlchemy takes as long as to read them."""
    return driver_of(connection).execute(_for_driver(statement), parameters).fetchall()


@lru_cache(maxsize=64)
def _for_driver(statement: TextClause) -> bytes:
    """With its parameters as the driver names them."""
    return PARAMETER.sub(r"%(\1)s", statement.text.replace("%", "%%")).encode()


@contextmanager
def at_once(engine: Engine) -> Iterator["psycopg.Connection[Any]"]:
    """The driver's own connection, on which each statement is a transaction by itself, on disk when it returns."""
    pooled = engine.raw_connection()
    driver: psycopg.Connection[Any] | None = pooled.driver_connection
    assert driver is not None
    try:
        driver.autocommit = True
        yield driver
    finally:
        try:
            driver.autocommit = False
        except psycopg.Error:
            pooled.invalidate()
        pooled.close()


def array(values: Iterable[object]) -> str:
    """Numbers or names as the text of an array: one parameter, several times cheaper than a list of them."""
    return "{" + ",".join(map(str, values)) + "}"


def uuids(values: Iterable[UUID]) -> str:
    """The same of ids, a third of whose time would be their hyphens."""
    return "{" + ",".join([value.hex for value in values]) + "}"


def texts(values: Iterable[str | None]) -> str:
    """Texts as the text of an array: what is not a plain word or number is quoted."""
    return array([_quoted(value) for value in values])


def _quoted(value: str | None) -> str:
    if value is None:
        return "NULL"
    if value.isalnum() and value.isascii() and value.upper() != "NULL":
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "")
    return f'"{escaped}"'


def copy_rows(connection: Connection, table: str, columns: str, rows: str) -> None:
    """COPY lines of tab-separated text into a table, in the connection's transaction."""
    with driver_of(connection).cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        copy.write(rows)
        crashpoint(f"copy.{table}")


def field(value: str | None) -> str:
    """A text as COPY reads it: NULL and the characters that end a field or line are escaped."""
    if value is None:
        return r"\N"
    if value.isalnum() and value.isascii():
        return value
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "")
