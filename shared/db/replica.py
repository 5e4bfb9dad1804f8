"""A read replica: a streaming standby that answers reports while it is close enough to the primary."""

import logging
import math
import threading
import time

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from shared.db.connection import reading
from shared.periodic import repeat

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
PRIMARY = text(
    """
    SELECT CAST(pg_current_wal_flush_lsn() AS text) AS position, clock_timestamp() AS now, id FROM installation
    """
)
"""How far the primary has come. Postgres's functions for replication."""
REPLICA = text(
    """
    SELECT pg_is_in_recovery() AS follows, id,
           CASE WHEN pg_last_wal_replay_lsn() >= CAST(:position AS pg_lsn) THEN 0
                ELSE extract(epoch FROM CAST(:now AS timestamptz) - pg_last_xact_replay_timestamp()) END AS lag
      FROM installation
    """
)
"""How far the replica is behind that. Both times are the primary's, so that clocks of two machines are not compared."""


class NoReplica(Exception):
    """The replica cannot answer for the primary. The message says why."""


def lag_of(primary: Engine, replica: Engine) -> float:
    """By how many seconds the replica is at most behind the primary.

    Raises NoReplica if it is no standby of the primary, and errors of the database if one of them does not answer.
    """
    with reading(primary) as connection:
        ahead = connection.execute(PRIMARY).one()
    with reading(replica) as connection:
        row = connection.execute(REPLICA, {"position": ahead.position, "now": ahead.now}).one()
    if not row.follows:
        raise NoReplica("It is not a standby: it accepts writes itself.")
    if row.id != ahead.id:
        raise NoReplica("It is a standby of another installation.")
    return math.inf if row.lag is None else max(0.0, float(row.lag))


class Replica:
    """Knows by how much the replica is behind, from a check every second. Thread-safe."""

    def __init__(self, primary: Engine, engine: Engine, max_lag: float) -> None:
        self.engine = engine
        self._primary = primary
        self._max_lag = max_lag
        self._as_of = -math.inf
        self._problem: str | None = None

    def start(self, stop: threading.Event | None = None) -> None:
        """Check every CHECK_SECONDS in a background thread. Until the first check the replica is not used."""
        repeat(self.check, CHECK_SECONDS, "replica", stop, at_once=True)

    def lag(self) -> float:
        """By how many seconds the replica is now at most behind, as far as is known; infinite if it does not answer."""
        return time.monotonic() - self._as_of

    def is_close(self) -> bool:
        """Whether the replica is close enough to answer."""
        return self.lag() <= self._max_lag

    def check(self) -> None:
        """Ask both servers. Logs when the replica becomes too old, or close enough again."""
        began = time.monotonic()
        problem = None
        try:
            self._as_of = began - lag_of(self._primary, self.engine)
            if not self.is_close():
                problem = f"it is {self.lag():,.0f} s behind"
        except (NoReplica, SQLAlchemyError) as error:
            self.distrust()
            problem = str(getattr(error, "orig", error)).strip()
        if problem and not self._problem:
            log.warning("the primary answers reports, not the replica: %s", problem)
        elif self._problem and not problem:
            log.info("the replica answers reports again")
        self._problem = problem

    def distrust(self) -> None:
        """Do not use the replica until the next check."""
        self._as_of = -math.inf
