"""Archives weeks of messages: a partition is detached, written to a file, and dropped.

Every step is one transaction, so after a crash the next call goes on with what is missing:

1. The partition is detached and its week noted. From now on nobody reads or changes its messages.
2. They are written to a file, which is read back.
3. The checksum is noted and the table dropped.

Postgres refuses DETACH CONCURRENTLY for a table with a default partition, which `message` has. A plain DETACH blocks
the users of `message` for a moment, so it waits for its lock only briefly and is tried again.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from psycopg import sql
from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, Engine, Row, bindparam, exists, func, not_, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from shared.accounts.refused import Refused
from shared.archive.clean import UNLIMITED, clean, table_of
from shared.archive.copy import copy_out
from shared.archive.files import write
from shared.db.advisory_locks import ARCHIVE, RETENTION
from shared.db.connection import driver_of, reading
from shared.db.partitions import WEEK, partition_of, weeks_of_messages
from shared.db.tables.messages import archived_week, message
from shared.db.tables.sends import batch, send
from shared.db.tables.usage import usage_hour
from shared.db.timeouts import WAIT_BRIEFLY_FOR_LOCKS
from shared.ids import first_id_at

Say = Callable[[date, str], None]
"""Called with the week and what was just done or is in progress."""

MIN_AGE = timedelta(days=9)
"""Usage is final eight days after the last send has ended, and receipts that match nothing are kept for three."""
LOCK_TRIES = 60
COLUMNS = tuple(message.c.keys())

ONE_AT_A_TIME = select(func.pg_try_advisory_lock(ARCHIVE))
END_TURN = select(func.pg_advisory_unlock(ARCHIVE))
LOCK = select(func.pg_advisory_xact_lock(RETENTION))
UNWRITTEN = (
    select(archived_week)
    .where(archived_week.c.messages.is_(None), archived_week.c.restored_at.is_(None))
    .order_by(archived_week.c.began_at)
)
NOW = select(func.clock_timestamp())
OF_WEEK = (batch.c.id >= bindparam("first_id"), batch.c.id < bindparam("end_id"))
OPEN = select(
    exists().where(*OF_WEEK, send.c.id == batch.c.send_id, or_(send.c.completed_at.is_(None), send.c.in_doubt > 0))
)
NOT_FINAL = select(exists().where(not_(usage_hour.c.final), usage_hour.c.began_at < bindparam("end")))
IN_ARCHIVED_WEEK = exists().where(batch.c.send_id >= archived_week.c.first_id, batch.c.send_id < archived_week.c.end_id)
CONTINUED = select(exists().where(*OF_WEEK, batch.c.send_id < bindparam("first_id"), not_(IN_ARCHIVED_WEEK)))
NOTE = insert(archived_week).values(sealed_at=func.clock_timestamp())
NOTE = NOTE.on_conflict_do_update(
    index_elements=["began_at"], set_={"messages": None, "sha256": None, "written_at": None, "restored_at": None}
)
WRITTEN = (
    update(archived_week)
    .where(archived_week.c.began_at == bindparam("week"))
    .values(messages=bindparam("count"), sha256=bindparam("checksum"), written_at=bindparam("at"))
)


def archive(engine: Engine, before: date, folder: Path, say: Say, now: datetime | None = None) -> list[date]:
    """Archive every week that ended before the date into the folder, oldest first. Returns the weeks' Mondays.

    Weeks that an earlier call began are completed first. Raises Refused at the first week that cannot be archived,
    BadArchive if a file does not read back, and errors of the database and of files; weeks before are complete then.
    """
    with alone(engine):
        return _archive(engine, before, folder, say, now or datetime.now(UTC))


@contextmanager
def alone(engine: Engine) -> Iterator[None]:
    """Context in which nobody else archives, restores or rewrites. Raises Refused if somebody does."""
    with reading(engine) as connection:
        if not connection.execute(ONE_AT_A_TIME).scalar():
            raise Refused("Another `bulksms archive` is running. Wait until it has ended.")
        try:
            yield
        finally:
            connection.execute(END_TURN)


def _archive(engine: Engine, before: date, folder: Path, say: Say, now: datetime) -> list[date]:
    latest = (now - MIN_AGE).date()
    if before > latest:
        raise Refused(f"Messages change until they are {MIN_AGE.days} days old: --before can be {latest} at most.")
    with reading(engine) as connection:
        unwritten = connection.execute(UNWRITTEN).all()
    archived = [complete(engine, row, folder, say) for row in unwritten]
    with reading(engine) as connection:
        weeks = [week for week in weeks_of_messages(connection) if week + WEEK <= before]
    for week in weeks:
        detach(engine, week)
        say(week, "detached")
        with reading(engine) as connection:
            row = connection.execute(UNWRITTEN).one()
        archived.append(complete(engine, row, folder, say))
    return archived


def detach(engine: Engine, week: date) -> None:
    """Detach the week's partition and note that it is archived. Raises Refused."""

    def attempt() -> None:
        with engine.begin() as connection:
            _detach(connection, week)

    until_lock_is_free(attempt)


def until_lock_is_free(attempt: Callable[[], None]) -> None:
    """Repeat what fails because `message` is locked. Raises Refused after about a minute and a half."""
    for tries_left in reversed(range(LOCK_TRIES)):
        try:
            attempt()
            return
        except DBAPIError as error:
            if not isinstance(error.orig, LockNotAvailable):
                raise
            if not tries_left:
                raise Refused("The table `message` is in use without a pause. Try again later.") from None
        time.sleep(1)


def _detach(connection: Connection, week: date) -> None:
    begin = datetime(week.year, week.month, week.day, tzinfo=UTC)
    span = {"first_id": first_id_at(begin), "end_id": first_id_at(begin + WEEK)}
    connection.execute(UNLIMITED)
    connection.execute(LOCK)
    problem = _problem(connection, span, begin + WEEK)
    if problem:
        raise Refused(f"The week of {week} cannot be archived: {problem}")
    connection.execute(NOTE, {"began_at": begin, **span})
    connection.execute(WAIT_BRIEFLY_FOR_LOCKS)
    detached = sql.SQL("ALTER TABLE message DETACH PARTITION {}").format(sql.Identifier(partition_of(week)))
    driver_of(connection).execute(detached)


def _problem(connection: Connection, span: dict[str, Any], end: datetime) -> str | None:
    """Why a week cannot be archived, or None."""
    if connection.execute(OPEN, span).scalar():
        return "some of its sends have not ended, or have messages in doubt (bulksms send list --open, doubt list)."
    if connection.execute(NOT_FINAL, {"end": end}).scalar():
        return "its usage is not final yet. Workers see to that."
    if connection.execute(CONTINUED, span).scalar():
        return "some of its batches belong to sends of an earlier week, which is not archived."
    return None


def complete(engine: Engine, row: Row[Any], folder: Path, say: Say) -> date:
    """Write the detached table of a week to its file, and drop it. Returns the week's Monday."""
    week: date = row.began_at.date()
    table = table_of(partition_of(week))
    with engine.begin() as connection:
        connection.execute(UNLIMITED)
        connection.execute(LOCK)
        written_at: datetime = connection.execute(NOW).scalar_one()
        clean(connection, table)
        blocks = copy_out(connection, table.name, COLUMNS)
        manifest = write(folder, week, COLUMNS, written_at.isoformat(), blocks, lambda: say(week, "writing"))
    say(week, f"written and read back: {manifest.messages:,} messages")
    with engine.begin() as connection:
        noted = {"week": row.began_at, "count": manifest.messages, "checksum": manifest.sha256, "at": written_at}
        connection.execute(WRITTEN, noted)
        table.drop(connection, checkfirst=False)
        say(week, "dropping")
    say(week, "archived")
    return week
