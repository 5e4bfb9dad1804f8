"""Finding of `bulksms doctor` about events that wait for a transaction of the Postgres server to end."""

from datetime import timedelta

from sqlalchemy import Connection, Float, literal_column, select, text

from shared.events.stream import OLDEST_OPEN_XID
from shared.health.finding import Finding

MAX_WAIT = timedelta(minutes=10)
"""More than any transaction of the service takes."""
HELD_BACK = select(
    literal_column("coalesce(max(CAST(extract(epoch FROM clock_timestamp() - next.at) AS float8)), 0)", Float)
).select_from(
    text(
        f"""account a CROSS JOIN LATERAL
            (SELECT e.at FROM event e WHERE e.account_id = a.id AND e.xid >= {OLDEST_OPEN_XID}
              ORDER BY e.xid, e.id LIMIT 1) next"""
    )
)
"""Seconds for which the oldest event has not been readable, because an older transaction is open."""


def events_finding(connection: Connection) -> Finding:
    """Whether events can be read soon after they were written."""
    seconds = connection.execute(HELD_BACK).scalar_one()
    if seconds <= MAX_WAIT.total_seconds():
        return Finding("events", "ok", "readable")
    detail = f"none of the last {seconds / 60:,.0f} minutes is delivered: a transaction of the server is open"
    remedy = (
        "It may be in any database. As superuser: SELECT pid, datname, usename, xact_start FROM pg_stat_activity WHERE"
        " backend_xid IS NOT NULL ORDER BY xact_start; SELECT * FROM pg_prepared_xacts. End it by pg_terminate_backend"
        " or ROLLBACK PREPARED."
    )
    return Finding("events", "wrong", detail, remedy)
