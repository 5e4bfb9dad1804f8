"""Terminates database sessions whose client has stalled in the middle of a statement and holds locks.

A process may stop, its machine freeze or its network fail while it sends the rows of a COPY or reads a result. Postgres
then waits for it beyond every timeout: `statement_timeout` and query cancellation have no effect while it waits for its
client (src/backend/tcop/postgres.c, `ProcessClientReadInterrupt`), and `idle_in_transaction_session_timeout` applies
only between statements. Terminating the session works there too.
"""

import time

from sqlalchemy import Engine, text

from shared.db.connection import IDLE_MILLISECONDS, reading

WAITING = text(
    """
    SELECT pid, query_start FROM pg_stat_activity
     WHERE datname = current_database() AND usename = current_user AND application_name LIKE 'bulksms-%'
       AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')
    """
)
"""Only the service's own sessions: a backup's may wait for as long as they like."""

TERMINATE = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid AND query_start = :query_start"
)
"""Terminates the session only while it runs the statement that it was seen with: its pid may serve another by now."""


class StalledSessions:
    """Terminates sessions that wait for their client within the same statement at every check for `patience` seconds.

    A long-running statement alone is not enough: its result may just have begun to reach the client.
    """

    def __init__(self, engine: Engine, patience: float = IDLE_MILLISECONDS / 1000) -> None:
        self._engine = engine
        self._patience = patience
        self._since: dict[tuple[object, ...], float] = {}

    def terminate(self) -> int:
        """Check, and terminate stalled sessions. Returns how many."""
        now = time.monotonic()
        with reading(self._engine) as connection:
            waiting = connection.execute(WAITING).all()
            self._since = {tuple(row): self._since.get(tuple(row), now) for row in waiting}
            stalled = [row for row in waiting if now - self._since[tuple(row)] > self._patience]
            return sum(bool(connection.execute(TERMINATE, row._asdict()).scalar()) for row in stalled)
