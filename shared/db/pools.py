"""Connection pools that count their connections for `GET /metrics`."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Engine, event
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from shared.observability.metrics import POOL_CONNECTIONS, POOL_WAITS

OVERFLOW = 4
"""Connections that a pool opens beyond its size when all are in use. They are closed afterwards."""


class CountedPool(QueuePool):
    """A pool that counts how often somebody had to wait for a connection."""

    def connect(self) -> PoolProxiedConnection:
        """Check out a connection."""
        if self.checkedout() >= self.size() + OVERFLOW:
            POOL_WAITS.inc()
        return super().connect()


def count_connections(engine: Engine, application: str) -> None:
    """Count the connections of an engine, as the pool of that application, from now on."""
    opened, in_use = (POOL_CONNECTIONS.labels(application, state) for state in ("open", "in_use"))
    for name, gauge, change in (
        ("connect", opened, 1),
        ("close", opened, -1),
        ("checkout", in_use, 1),
        ("checkin", in_use, -1),
    ):
        event.listen(engine, name, partial(_change, gauge.inc, change))


def _change(add: Callable[[float], None], change: float, *_: object) -> None:
    add(change)
