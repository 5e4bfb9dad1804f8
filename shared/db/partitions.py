"""The weekly partitions of `message`."""

from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Connection, func, select, text

from shared.ids import first_id_at

WEEK = timedelta(weeks=1)
WEEKS_AHEAD = 4
WEEKS = text(
    """
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'message'::regclass AND c.relname ~ '^message_[0-9]{8}$' ORDER BY 1
    """
)
"""The weeks that have a partition, by Postgres's catalog."""


WEEK_IN_DEFAULT_PARTITION = text("SELECT EXISTS (SELECT FROM message_default WHERE id >= :low AND id < :high)")
"""Whether messages of a week are in the default partition."""


def partition_of(week: date) -> str:
    """The name of the week's partition, given its Monday."""
    return f"message_{week:%Y%m%d}"


def weeks_of_messages(connection: Connection) -> list[date]:
    """The Mondays of the weeks that have a partition, oldest first."""
    return list(connection.execute(WEEKS).scalars())


def make_partitions(connection: Connection, now: datetime | None = None) -> list[str]:
    """Create the weekly partitions of `message` that are missing, from last week to four weeks ahead.

    Returns their names. A message whose week has no partition goes to `message_default`, and is moved from there.
    """
    today = (now or datetime.now(UTC)).replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday() + 7)
    created = []
    for week in range(WEEKS_AHEAD + 2):
        begin = monday + week * WEEK
        name = partition_of(begin)
        if connection.execute(select(func.to_regclass(name))).scalar() is None:
            low, high = first_id_at(begin), first_id_at(begin + WEEK)
            if connection.execute(WEEK_IN_DEFAULT_PARTITION, {"low": low, "high": high}).scalar():
                connection.execute(text("LOCK TABLE message IN ACCESS EXCLUSIVE MODE"))  # nothing is written meanwhile
            connection.execute(text(f"CREATE TABLE {name} (LIKE message INCLUDING ALL) WITH (fillfactor = 60)"))
            move = (
                f"WITH moved AS (DELETE FROM message_default WHERE id >= '{low}' AND id < '{high}' RETURNING *)"
                f" INSERT INTO {name} SELECT * FROM moved"
            )
            connection.execute(text(move))
            attach = f"ALTER TABLE message ATTACH PARTITION {name} FOR VALUES FROM ('{low}') TO ('{high}')"
            connection.execute(text(attach))
            created.append(name)
    return created
