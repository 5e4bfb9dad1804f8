"""Reads that may be a few seconds old, answered by the replica while it is close enough to the primary.

Only what is documented as such may be read here, and nothing that decides about credits or about sending. Without a
replica, or while it does not answer, the primary does.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import psycopg
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from api.http.bounded_queries import reading_list
from shared.db.connection import is_outage_or_timeout
from shared.db.replica import Replica
from shared.observability.metrics import REPORTS
from shared.settings import MAX_REPLICA_LAG

T = TypeVar("T")


class ReplicaReads:
    """Reads from the replica, or else from the primary."""

    def __init__(self, primary: Engine, replica: Replica | None) -> None:
        self._primary = primary
        self._replica = replica

    def read(self, query: Callable[[Connection], T]) -> T:
        """What `query` returns for a connection as in `reading_list`. It is called again if the replica fails."""
        replica = self._replica
        if replica is not None and replica.is_close():
            try:
                with reading_list(replica.engine) as connection:
                    result = query(connection)
            except (SQLAlchemyError, psycopg.Error) as error:
                if _timed_out(error) or not is_outage_or_timeout(error):
                    raise
                replica.distrust()
            else:
                REPORTS.labels("replica").inc()
                return result
        REPORTS.labels("primary").inc()
        return self._read_primary(query)

    def read_before(self, until: datetime | None, query: Callable[[Connection], T]) -> T:
        """The same for what was made before `until`, if that is long enough ago for every replica to have it.

        Otherwise the primary answers, so that whoever has just made something finds it.
        """
        if until is not None and until <= datetime.now(UTC) - timedelta(seconds=MAX_REPLICA_LAG):
            return self.read(query)
        return self._read_primary(query)

    def _read_primary(self, query: Callable[[Connection], T]) -> T:
        with reading_list(self._primary) as connection:
            return query(connection)


def _timed_out(error: Exception) -> bool:
    """Whether the statement took too long, which it would on the primary too."""
    return isinstance(getattr(error, "orig", error), psycopg.errors.QueryCanceled)
