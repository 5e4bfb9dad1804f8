"""Reads archived weeks, and puts them back into the database.

Whatever was forgotten or erased since a file was written is left out each time that it is read.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from psycopg import sql
from sqlalchemy import Connection, Engine, Row, bindparam, exists, func, select, text, update

from shared.accounts.refused import Refused
from shared.archive.clean import UNLIMITED, clean, table_of
from shared.archive.copy import copy_in, copy_out
from shared.archive.files import BadArchive, Manifest, blocks_of, verify, write
from shared.archive.weeks import COLUMNS, LOCK, NOW, WRITTEN, Say, alone, until_lock_is_free
from shared.db.connection import driver_of, reading
from shared.db.partitions import partition_of
from shared.db.tables.messages import archived_week, erasure
from shared.db.tables.sends import send
from shared.db.timeouts import WAIT_BRIEFLY_FOR_LOCKS

COPY = "archived_messages"
FORGOTTEN_SINCE = exists().where(
    send.c.id >= archived_week.c.first_id,
    send.c.id < archived_week.c.end_id,
    send.c.forgotten_at > archived_week.c.written_at,
)
ERASED_SINCE = exists().where(erasure.c.completed_at > archived_week.c.written_at)
LIST = select(
    func.date(func.timezone("UTC", archived_week.c.began_at)).label("week"),
    *archived_week.c["messages", "written_at", "restored_at", "sha256"],
    (FORGOTTEN_SINCE | ERASED_SINCE).label("rewrite"),
).order_by(archived_week.c.began_at)
WEEK = select(archived_week).where(archived_week.c.began_at == bindparam("week"))
RESTORED = (
    update(archived_week)
    .where(archived_week.c.began_at == bindparam("week"))
    .values(restored_at=func.clock_timestamp())
)
MAKE_COPY = text(f"CREATE TEMPORARY TABLE {COPY} (LIKE message) ON COMMIT DROP")
"""A temporary table."""
HOLD_ERASURES = text("LOCK TABLE erasure IN EXCLUSIVE MODE")
"""No erasure may come between the last look at the batches and the moment at which the messages are there again."""


def list_archived(connection: Connection) -> list[Mapping[str, Any]]:
    """The archived weeks, oldest first. `rewrite` says whether something was forgotten or erased since."""
    return [dict(row) for row in connection.execute(LIST).mappings()]


def read(engine: Engine, week: date, folder: Path, take: Callable[[bytes], object]) -> None:
    """Give the messages of an archived week to `take`, as CSV with a header. Raises Refused and BadArchive."""
    with _copy(engine, week, folder) as (connection, _):
        for block in copy_out(connection, COPY, COLUMNS):
            take(block)


def rewrite(engine: Engine, week: date, folder: Path, to: Path, say: Say) -> Manifest:
    """Write the file of a week again, into another folder. From now on that file is the week's."""
    if to.resolve() == folder.resolve():
        raise Refused("A file is rewritten into another folder, so that nothing is lost in a crash.")
    with alone(engine), _copy(engine, week, folder) as (connection, row):
        written_at: datetime = connection.execute(NOW).scalar_one()
        clean(connection, table_of(COPY))
        blocks = copy_out(connection, COPY, COLUMNS)
        manifest = write(to, week, COLUMNS, written_at.isoformat(), blocks, lambda: say(week, "writing"))
        noted = {"week": row.began_at, "count": manifest.messages, "checksum": manifest.sha256, "at": written_at}
        connection.execute(WRITTEN, noted)
    return manifest


def restore(engine: Engine, week: date, folder: Path, say: Say) -> None:
    """Make the messages of an archived week part of the database again. Raises Refused and BadArchive."""
    with alone(engine):
        _restore(engine, week, folder, say)


def _restore(engine: Engine, week: date, folder: Path, say: Say) -> None:
    with reading(engine) as connection:
        row = _archived(connection, week)
    manifest = None if row.sha256 is None else verify(folder, week, row.sha256)
    table = partition_of(week)
    with engine.begin() as connection:
        connection.execute(UNLIMITED)
        connection.execute(LOCK)
        if manifest is not None:
            driver_of(connection).execute(
                sql.SQL("CREATE TABLE {} (LIKE message INCLUDING ALL) WITH (fillfactor = 60)").format(
                    sql.Identifier(table)
                )
            )
            _load(connection, table, folder, week, manifest)
            say(week, "loaded")
        connection.execute(HOLD_ERASURES)
        clean(connection, table_of(table))
        attach = sql.SQL("ALTER TABLE message ATTACH PARTITION {} FOR VALUES FROM ({}) TO ({})").format(
            sql.Identifier(table), sql.Literal(str(row.first_id)), sql.Literal(str(row.end_id))
        )

        def attempt() -> None:
            with connection.begin_nested():
                connection.execute(WAIT_BRIEFLY_FOR_LOCKS)
                driver_of(connection).execute(attach)

        until_lock_is_free(attempt)
        connection.execute(RESTORED, {"week": row.began_at})
        say(week, "attaching")
    say(week, "restored")


@contextmanager
def _copy(engine: Engine, week: date, folder: Path) -> Iterator[tuple[Connection, Row[Any]]]:
    """Context of a transaction with a temporary table of the week's messages, without what was erased."""
    with reading(engine) as connection:
        row = _archived(connection, week)
    if row.sha256 is None:
        raise Refused(f"The week of {week} is not written yet.", "Run `bulksms archive write` again.")
    manifest = verify(folder, week, row.sha256)
    with engine.begin() as connection:
        connection.execute(UNLIMITED)
        connection.execute(LOCK)
        connection.execute(MAKE_COPY)
        _load(connection, COPY, folder, week, manifest)
        clean(connection, table_of(COPY))
        yield connection, row


def _load(connection: Connection, table: str, folder: Path, week: date, manifest: Manifest) -> None:
    count = copy_in(connection, table, manifest.columns, blocks_of(folder, week))
    if count != manifest.messages:
        raise BadArchive(
            f"The file of the week of {week} has {count:,} messages and should have {manifest.messages:,}."
        )


def _archived(connection: Connection, week: date) -> Row[Any]:
    row = connection.execute(WEEK, {"week": datetime(week.year, week.month, week.day, tzinfo=UTC)}).one_or_none()
    if row is None or row.restored_at is not None:
        raise Refused(f"The week of {week} is not archived.", "`bulksms archive list` shows which are.")
    return row
