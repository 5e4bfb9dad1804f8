"""Statistics of Postgres: commits, and syncs and bytes of the write-ahead log."""

import time
from typing import NamedTuple

from sqlalchemy import Engine, text

FLUSHED = 10.5
"""Seconds after which an idle session has reported its counts (PGSTAT_IDLE_INTERVAL is 10)."""

# Since Postgres 18 the syncs of the write-ahead log are in pg_stat_io, and before it in pg_stat_wal.
COUNTS = text(
    """
    SELECT (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()) AS commits,
           (SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal') AS syncs,
           (SELECT wal_bytes FROM pg_stat_wal) AS wal_bytes
    """
)


class Counts(NamedTuple):
    """Counts since the start of the database."""

    commits: float
    syncs: float
    wal_bytes: float

    def per(self, messages: int, since: "Counts", at_rest: "Counts") -> dict[str, float]:
        """The cost of one message `since` those counts, as figures.

        `at_rest` are counts taken before those, while nothing was sent. They allow for the service's background work
        while counts are awaited.
        """
        commits, syncs, wal_bytes = (
            now - 2 * then + before for now, then, before in zip(self, since, at_rest, strict=True)
        )
        return {
            "commits per message": commits / messages,
            "fsyncs per message": syncs / messages,
            "WAL bytes per message": wal_bytes / messages,
        }


def counts(engine: Engine) -> Counts:
    """The counts, after every session has had time to report its own."""
    time.sleep(FLUSHED)
    with engine.connect() as connection:
        row = connection.execute(COUNTS).one()
    return Counts(*map(float, row))
