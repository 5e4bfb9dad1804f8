"""Ends sessions of the database whose process has stopped in the middle of a statement, and holds locks for ever.

A process may be stopped, its machine frozen or its network cut while it sends the rows of a COPY, or reads those of an
answer. Postgres then waits for it beyond every timeout: it heeds `statement_timeout` and a cancelled statement only
where it does not wait for its client (src/backend/tcop/postgres.c, `ProcessClientReadInterrupt`), and
`idle_in_transaction_session_timeout` only between two statements. What is terminated it heeds there too.
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
"""Only the service's own sessions: those of a backup may wait for as long as they like."""

END = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid AND query_start = :query_start")


class Stalled:
    """Looks for them again and again. Ended is who waited for its client, within one statement, at each look.

    `patience` is the seconds between the first and the last of those looks. One statement that is old is not enough:
    its answer may have come to the client just now.
    """

    def __init__(self, engine: Engine, patience: float = IDLE_MILLISECONDS / 1000) -> None:
        self._engine = engine
        self._patience = patience
        self._since: dict[tuple[object, ...], float] = {}

    def end(self) -> int:
        """Look, and end those sessions. Returns how many."""
        now = time.monotonic()
        with reading(self._engine) as connection:
            waiting = connection.execute(WAITING).all()
            self._since = {tuple(row): self._since.get(tuple(row), now) for row in waiting}
            long = [row for row in waiting if now - self._since[tuple(row)] > self._patience]
            return sum(bool(connection.execute(END, row._asdict()).scalar()) for row in long)
