"""Continues all statements every hour, in one of the workers, and closes those of months that are over."""

from datetime import datetime, timedelta

from sqlalchemy import Engine, func, select, text

from shared.db.connection import reading
from shared.job_backoff import failures_of, is_ready
from shared.job_failures import attempt
from shared.statements import count_on, writers_end

LAG = timedelta(hours=1)
"""How long an hour is over before it is counted: a clock that is set back by less does no harm."""

DUE = text(
    f"""
    SELECT a.id, {failures_of("month", "a.id")} AS failures
      FROM account a
      LEFT JOIN LATERAL (SELECT s.counted_to AS counted FROM statement s WHERE s.account_id = a.id
                          ORDER BY s.month DESC LIMIT 1) AS l ON true
     WHERE a.created_at < :until AND {is_ready("month", "a.id")}
       AND (l.counted IS NULL OR l.counted < LEAST(:until, a.updated_at)
            OR date_trunc('month', l.counted) < date_trunc('month', CAST(:until AS timestamptz)))
     ORDER BY a.id
    """
)
"""Accounts whose row has changed since, as it does with each posting, and all at the end of a month."""


def count_statements(engine: Engine, now: datetime | None = None) -> None:
    """Continue all statements that are due at `now`, by default the database's time."""
    with reading(engine) as connection:
        now = now or connection.execute(select(func.clock_timestamp())).scalar_one()
        until = (now - LAG).replace(minute=0, second=0, microsecond=0)
        due = connection.execute(DUE, {"until": until}).all()
        if not due or not writers_end(connection):
            return
    for each in due:
        with attempt(engine, "month") as job:
            job.begin(each.id, each.id, each.failures)
            closed = True
            while closed:
                with engine.begin() as connection:
                    closed = count_on(connection, each.id, until)
