"""Connection pools that count their connections for `GET /metrics`."""

from sqlalchemy import Engine, event
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from shared.observability.metrics import POOL_CONNECTIONS, POOL_WAITS

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
        record.record_info["in_use"] = True
        in_use.inc()

    def checked_in(_connection: object, record: ConnectionPoolEntry) -> None:
        if record.record_info.pop("in_use", False):
            in_use.dec()

    event.listen(engine, "connect", lambda *_: opened.inc())
    event.listen(engine, "close", lambda *_: opened.dec())
    event.listen(engine, "checkout", checked_out)
    event.listen(engine, "checkin", checked_in)
