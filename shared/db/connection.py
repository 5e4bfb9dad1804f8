"""Connections to Postgres, with a timeout on everything that could block."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import Connection, Engine, ExceptionContext, TextClause, create_engine, event
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from shared.crashpoints import crashpoint
from shared.db import pools
from shared.db.errors import error_of_autocommit, is_value_refused, sqlstate_of
from shared.db.pools import OVERFLOW, CountedPool
from shared.db.sessions import Sessions
from shared.encryption import Texts
from shared.observability.metrics import CONNECTION_FAILURES

UNAVAILABLE = (
    OperationalError,
    InterfaceError,
    PoolTimeoutError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.FeatureNotSupported,
)
"""Errors that mean that the database is unavailable, from SQLAlchemy and from direct use of the driver."""

STATEMENT_ERRORS = frozenset({"57014", "55P03", "40P01", "40001", "0A000"})
"""SQLSTATEs of operational errors that concern one statement: timeouts of the statement or of a lock, deadlocks,
serialization failures, and a prepared statement that is out of date."""

CONNECT_SECONDS = 5
LOCK_MILLISECONDS = 5_000
STATEMENT_MILLISECONDS = 60_000
IDLE_MILLISECONDS = 10_000
"""For how long a process that stalls inside a transaction can hold its locks (worker/recovery/stalled_sessions.py)."""

UNANSWERED_MILLISECONDS = 10_000
"""For how long data or a keepalive may be unacknowledged by the other side before a connection is given up."""
KEEPALIVE_SECONDS = 15
"""After this long without data, a keepalive asks whether the other side is there."""
REPEAT_SECONDS = 5
"""A keepalive without an answer is repeated this often, by default every 75 s. Only then is the bound above checked."""
CHECK_CLIENT_MILLISECONDS = 2_000
"""How often a running statement checks that its client is still connected: a killed process's statement, with the locks
that it holds, would otherwise go on until its timeout. Not available for servers on Windows."""

SESSION = {
    "timezone": "UTC",
    "lock_timeout": LOCK_MILLISECONDS,
    "statement_timeout": STATEMENT_MILLISECONDS,
    "idle_in_transaction_session_timeout": IDLE_MILLISECONDS,
    # Sessions of a host that vanished would otherwise count against max_connections for two hours.
    "tcp_user_timeout": UNANSWERED_MILLISECONDS,
    "tcp_keepalives_idle": KEEPALIVE_SECONDS,
    "tcp_keepalives_interval": REPEAT_SECONDS,
    "client_connection_check_interval": CHECK_CLIENT_MILLISECONDS,
    "jit": "off",
    "max_parallel_workers_per_gather": 0,  # an audit must not take all cores from sending
    "random_page_cost": 1.1,  # rows that are looked up by key are recent, and so in memory
}

PARAMETER = re.compile(r"(?<![:\w\\]):(\w+)(?![:\w])")
"""A parameter in SQLAlchemy's `text`."""

STARTED = """(pg_postmaster_start_time()
              + (coalesce(pg_stat_get_bgwriter_stat_reset_time(), 'epoch') - timestamptz 'epoch'))"""
"""SQL: changes whenever the database starts from its disk, losing every commit that had not reached it.

That is at each start, and also when one of its processes crashes: all others are then restarted under the same
postmaster, whose start time does not change. Such a recovery resets all statistics (PostgreSQL documentation, "The
Cumulative Statistics System"), so the time of the reset is added. Neither time alone, nor the later of the two, would
do: if the clock was ahead at the start and has been set right, the reset is the earlier one.
"""


def make_engine(
    url: str,
    pool: int = 8,
    application: str = "bulksms",
    *,
    by_key: bool = False,
    texts: Texts | None = None,
    pool_class: type[QueuePool] = CountedPool,
    standby: bool = False,
) -> Engine:
    """An engine whose sessions use UTC and READ COMMITTED, with timeouts for locks, statements and dead peers.

    `by_key` is for sessions that only use indexes, like a worker's: a cached plan from a time when a table was small
    would otherwise read the whole table long after it has grown. `texts` encrypts texts in the database; see
    `texts_of`. `pool_class` is the connection pool. `standby` keeps read-only sessions, which are closed otherwise.
    """
    settings = SESSION | (
        dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin"), "off") if by_key else {}
    )
    engine = create_engine(
        url,
        poolclass=pool_class,
        pool_size=pool,
        max_overflow=OVERFLOW,
        pool_timeout=2,
        pool_pre_ping=False,
        pool_use_lifo=True,
        execution_options={"texts": texts or Texts()},
        hide_parameters=True,  # errors are logged; phones and texts must not be
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": UNANSWERED_MILLISECONDS,
            "keepalives_idle": KEEPALIVE_SECONDS,
            "keepalives_interval": REPEAT_SECONDS,
        },
    )
    event.listen(engine, "do_connect", Sessions({"application_name": application, **settings}).connect)
    event.listen(engine, "handle_error", partial(_as_outage, "replica" if standby else "postgres"), retval=True)
    pools.replace_ended_sessions(engine)
    pools.count_connections(engine, application)
    if not standby:
        pools.close_read_only_sessions(engine)
    return engine


def _as_outage(server: str, failure: ExceptionContext) -> Exception | None:
    """Count an outage, and treat an ended session as an outage, also if the driver reports an internal error.

    It does so if the server terminates a session that idles in a transaction, and behind PgBouncer, which reports the
    end a second time: two responses to one COMMIT. If a migration has changed what a prepared statement returns, which
    no session can mend without a rollback, the pool is replaced.
    """
    error = failure.original_exception
    if isinstance(error, Exception) and is_outage(error):
        CONNECTION_FAILURES.labels(server).inc()
    if isinstance(error, (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.FeatureNotSupported)):
        failure.is_disconnect = True
    if not (isinstance(error, (psycopg.InternalError, psycopg.NotSupportedError)) and failure.is_disconnect):
        return None
    return OperationalError(failure.statement, None, error, hide_parameters=True, connection_invalidated=True)


def is_outage_or_timeout(error: Exception) -> bool:
    """Whether the database is unavailable, or gave up one statement, for example because it took too long."""
    if is_value_refused(error):
        return False
    return isinstance(error, UNAVAILABLE) or (isinstance(error, DBAPIError) and error.connection_invalidated)


def is_outage(error: Exception) -> bool:
    """Whether the database is unavailable, and did not only give up one statement."""
    return is_outage_or_timeout(error) and sqlstate_of(error) not in STATEMENT_ERRORS


def is_session_expired(error: Exception) -> bool:
    """Whether the database ended the session because it did nothing in a transaction for IDLE_MILLISECONDS."""
    return sqlstate_of(error) == psycopg.errors.IdleInTransactionSessionTimeout.sqlstate


@contextmanager
def transaction(engine: Engine, *, durable: bool = True) -> Iterator[Connection]:
    """Context of a transaction, committed at the end of the block.

    With `durable=False` the commit is asynchronous: a crash of the database may undo it. Use that only for facts that
    are not trusted after a restart of the database.
    """
    with engine.begin() as connection:
        if not durable:
            driver_of(connection).execute("SET LOCAL synchronous_commit = off")
        yield connection


def reading(engine: Engine) -> Connection:
    """A connection for reads, where each statement is a transaction.

    A transaction that wrote nothing would end with a rollback: a round trip, after which the driver forgets all
    prepared statements of the connection (psycopg, "Prepared statements").
    """
    return _autocommit(engine)


def durable_statement(engine: Engine) -> Connection:
    """A connection for one durable statement, which is its own transaction: one round trip."""
    return _autocommit(engine)


def async_commit_statement(engine: Engine) -> Connection:
    """A connection for one statement, which is its own transaction: one round trip.

    The statement must select `ASYNC_COMMIT`: its commit is then asynchronous, as with `durable=False`.
    """
    return _autocommit(engine)


def _autocommit(engine: Engine) -> Connection:
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT")


ASYNC_COMMIT = "set_config('synchronous_commit', 'off', true)"


def driver_of(connection: Connection) -> "psycopg.Connection[Any]":
    """The driver's connection, in the same transaction, for statements too frequent for SQLAlchemy."""
    driver: psycopg.Connection[Any] | None = connection.connection.driver_connection
    assert driver is not None
    return driver


def tuples_of(connection: Connection, statement: TextClause, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement as tuples from the driver: SQLAlchemy's rows take twice the time."""
    return driver_of(connection).execute(_for_driver(statement), parameters).fetchall()


@lru_cache(maxsize=64)
def _for_driver(statement: TextClause) -> bytes:
    """The statement with the driver's parameter syntax."""
    return PARAMETER.sub(r"%(\1)s", statement.text.replace("%", "%%")).encode()


@contextmanager
def autocommit(engine: Engine) -> Iterator["psycopg.Connection[Any]"]:
    """The driver's connection, on which each statement is a durable transaction."""
    pooled = engine.raw_connection()
    driver: psycopg.Connection[Any] | None = pooled.driver_connection
    assert driver is not None
    try:
        driver.autocommit = True
        yield driver
    except psycopg.Error as error:
        if isinstance(error, psycopg.errors.FeatureNotSupported):
            driver.close()  # without a transaction to roll back, it would keep the prepared statement
        raise error_of_autocommit(error, is_closed=driver.closed) from None
    finally:
        try:
            driver.autocommit = False
        except psycopg.Error:
            pooled.invalidate()
        pooled.close()


def array(values: Iterable[object]) -> str:
    """Numbers or names as an array literal: one parameter, several times cheaper than a list."""
    return "{" + ",".join(map(str, values)) + "}"


def uuids(values: Iterable[UUID]) -> str:
    """Ids as an array literal, without hyphens, which saves a third of the time."""
    return "{" + ",".join([value.hex for value in values]) + "}"


def texts(values: Iterable[str | None]) -> str:
    """Texts as an array literal, quoted unless they are plain words or numbers."""
    return array([_quoted(value) for value in values])


def _quoted(value: str | None) -> str:
    if value is None:
        return "NULL"
    if value.isalnum() and value.isascii() and value.upper() != "NULL":
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "")
    return f'"{escaped}"'


def copy_rows(connection: Connection, table: str, columns: str, rows: str) -> None:
    """COPY tab-separated lines into a table, in the connection's transaction."""
    with driver_of(connection).cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        copy.write(rows)
        crashpoint(f"copy.{table}")


def field(value: str | None) -> str:
    """A field in COPY's text format, with NULL and separators escaped."""
    if value is None:
        return r"\N"
    if value.isalnum() and value.isascii():
        return value
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "")
