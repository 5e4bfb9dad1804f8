"""Opens connections to Postgres, and makes sure that each has its own session.

There may be a pooler in between, such as PgBouncer. It refuses or ignores the settings that a client sends with its
connection request, so they are set by the first statement. In session mode they last until the connection is closed. In
transaction or statement mode each transaction may run in another session, shared with other clients: timeouts would not
hold, processes would get each other's settings, and prepared statements would collide. So the first connection of an
engine fails there.
"""

import json
import select
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any, cast
from uuid import uuid4

import psycopg
from psycopg import pq, sql
from sqlalchemy import Dialect
from sqlalchemy.pool import ConnectionPoolEntry

Driver = psycopg.Connection[Any]
Shown = dict[str, str | None]
"""Session parameters and their values, as Postgres shows them."""

SESSION_SECONDS = 5.0
"""Timeout of the first statement: a pooler without a free session delays it before Postgres' timeouts hold."""
TOKEN = "bulksms.session"
"""A custom parameter with a different value in each session."""

SET_UP = sql.SQL(
    """
    RESET ALL;
    DEALLOCATE ALL;
    SELECT set_config(name, value, false) FROM json_each_text({}) AS s (name, value)
    """
)
"""Removes settings and statements of the last client, which a pooler without `server_reset_query` leaves."""
SHOWN = sql.SQL("SELECT current_setting(name, true) FROM json_array_elements_text({}) AS s (name)")
"""The values that parameters have in this session; null of a custom one that it does not know."""
PROCESS = sql.SQL("SELECT pg_backend_pid()")
"""The process in which this very statement runs."""

REASON = (
    "Connections to the database do not keep their sessions: a pooler runs them in transaction or statement mode, where"
    " timeouts are lost and settings reach other clients."
)
REMEDY = "Set pool_mode = session for this database in PgBouncer, or let DATABASE_URL name Postgres itself."


class SessionNotKept(psycopg.OperationalError):
    """A connection has no session of its own. The message says what to do."""


class Sessions:
    """Opens the connections of one engine, as a listener of SQLAlchemy's event `do_connect`. Thread-safe.

    `settings` are the parameters of each session, with values as in `SET`.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self._are_kept = False

    def connect(
        self, dialect: Dialect, record: ConnectionPoolEntry, arguments: tuple[Any, ...], parameters: dict[str, Any]
    ) -> Driver:
        """Open a connection and set its parameters. Raises SessionNotKept, ConnectionTimeout or driver errors."""
        connection = cast(Driver, dialect.connect(*arguments, **parameters))
        try:
            shown = set_up(connection, self._settings)
            if not self._are_kept:
                with closing(cast(Driver, dialect.connect(*arguments, **parameters))) as other:
                    check_kept(connection, shown, other, set_up(other, self._settings))
                self._are_kept = True
        except BaseException:
            connection.close()
            raise
        return connection


def set_up(connection: Driver, settings: Mapping[str, object]) -> Shown:
    """Reset a session and set its parameters. Returns them as Postgres shows them, with the session's token."""
    values = {**settings, TOKEN: uuid4().hex}
    shown = _execute(connection, SET_UP.format(json.dumps({name: str(value) for name, value in values.items()})))
    return dict(zip(values, shown, strict=True))


def check_kept(connection: Driver, shown: Shown, other: Driver, other_shown: Shown) -> None:
    """Check that two open sessions still show the parameters that were set. Raises SessionNotKept.

    Each is checked twice in a row, as a pooler may alternate between two sessions.
    """
    first, second = (connection, shown), (other, other_shown)
    for session, expected in (first, first, second, second, first):
        if _execute(session, SHOWN.format(json.dumps(list(expected)))) != list(expected.values()):
            raise SessionNotKept(f"{REASON} {REMEDY}")


def has_pooler(connection: Driver) -> bool:
    """Whether there is a pooler: the process id that it reports is not the one in which statements run."""
    return _execute(connection, PROCESS) != [str(connection.info.backend_pid)]


def _execute(connection: Driver, statements: sql.Composable) -> list[str | None]:
    """Execute statements in one round trip. Returns the column that the last one selects.

    Raises ConnectionTimeout after SESSION_SECONDS, as the driver itself has no timeout.
    """
    server, deadline = connection.pgconn, time.monotonic() + SESSION_SECONDS
    server.send_query(statements.as_bytes(connection))
    column: list[str | None] = []
    while True:
        while server.is_busy():
            _wait_readable(server.socket, deadline)
            server.consume_input()
        result = server.get_result()
        if result is None:
            return column
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            raise psycopg.OperationalError(result.get_error_message())
        values = [result.get_value(row, 0) for row in range(result.ntuples)]
        column = [None if value is None else value.decode() for value in values]


def _wait_readable(descriptor: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(1000 * max(0.0, deadline - time.monotonic())):
        raise psycopg.errors.ConnectionTimeout(
            "The database gave the connection no session in time. A pooler's pool may be too small."
        )
