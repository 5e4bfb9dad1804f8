"""Connection pools that count their connections for `GET /metrics` and replace sessions that cannot be used."""

import select
from typing import Any

import psycopg
from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from shared.observability.metrics import POOL_CONNECTIONS, POOL_WAITS

READ_ONLY_PARAMETERS = ("default_transaction_read_only", "in_hot_standby")
"""Settings of a session that cannot write."""

OVERFLOW = 4
"""Connections that a pool opens beyond its size when all are in use. They are closed afterwards."""


class CountedPool(QueuePool):
    """A pool that counts how often a thread had to wait for a connection."""

    def connect(self) -> PoolProxiedConnection:
        """Check out a connection."""
        if self.checkedout() >= self.size() + OVERFLOW:
            POOL_WAITS.inc()
        return super().connect()


def count_connections(engine: Engine, application: str) -> None:
    """Count the connections of an engine, as the pool of that application, from now on.

    SQLAlchemy also reports a check-in for a connection that never was checked out: one that it could not open again.
    """
    opened, in_use = (POOL_CONNECTIONS.labels(application, state) for state in ("open", "in_use"))

    def checked_out(_connection: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        record.info["in_use"] = True
        in_use.inc()

    def checked_in(_connection: object, record: ConnectionPoolEntry) -> None:
        if record.info.pop("in_use", False):
            in_use.dec()

    event.listen(engine, "connect", lambda *_: opened.inc())
    event.listen(engine, "close", lambda *_: opened.dec())
    event.listen(engine, "checkout", checked_out)
    event.listen(engine, "checkin", checked_in)


def replace_ended_sessions(engine: Engine) -> None:
    """Replace a session when it is checked out if the server has ended it meanwhile.

    Without this, the first statement on each session would fail after a restart of the database. It costs no round
    trip: the server sends nothing to an idle session but the reason for its end, and changes of its settings.
    """

    def refuse_ended(session: "psycopg.Connection[Any]", record: ConnectionPoolEntry, _proxy: object) -> None:
        if record.info.pop("was_idle", False) and (session.closed or _has_input(session)):
            raise DisconnectionError

    def mark_idle(_session: object, record: ConnectionPoolEntry) -> None:
        record.info["was_idle"] = True

    event.listen(engine, "checkout", refuse_ended)
    event.listen(engine, "checkin", mark_idle)


def _has_input(session: "psycopg.Connection[Any]") -> bool:
    poll = select.poll()
    poll.register(session.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def close_read_only_sessions(engine: Engine) -> None:
    """Keep no read-only session: it would stay so when the database is writable again. (Postgres reports both settings
    to its clients: "Asynchronous Operations" in the documentation of its protocol.)"""

    def close_if_read_only(session: "psycopg.Connection[Any] | None", record: ConnectionPoolEntry) -> None:
        if session is not None and "on" in map(session.info.parameter_status, READ_ONLY_PARAMETERS):
            record.invalidate()

    event.listen(engine, "checkin", close_if_read_only)
