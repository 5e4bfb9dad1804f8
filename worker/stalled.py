"""Ends sessions of the database whose process has stopped in the middle of a statement, and holds locks for ever.

A process may be stopped, its machine frozen or its network cut while it sends the rows of a COPY, or reads those of an
answer. Postgres then waits for it beyond every timeout: it heeds `statement_timeout` and a cancelled statement only
where it does not wait for its client (src/backend/tcop/postgres.c, `ProcessClientReadInterrupt`), and
`idle_in_transaction_session_timeout` only between two statements. What is terminated it heeds there too.
"""

from sqlalchemy import Engine, text

from shared.database import IDLE_MILLISECONDS, reading

END_STALLED = text(
    """
    SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
     WHERE datname = current_database() AND usename = current_user AND application_name LIKE 'bulksms-%'
       AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')
       AND query_start < clock_timestamp() - make_interval(secs => :seconds)
    """
)
"""Only the service's own sessions: those of a backup may wait for as long as they like."""


def end_stalled(engine: Engine, seconds: float = IDLE_MILLISECONDS / 1000) -> int:
    """End the sessions that wait for their client, for `seconds` since the statement began. Returns how many."""
    with reading(engine) as connection:
        return int(connection.execute(END_STALLED, {"seconds": seconds}).scalar_one())
