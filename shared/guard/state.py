"""The installation's row: its mark, whether sending is held, and what distinguishes a copy of it."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from shared.db.connection import STARTED
from shared.guard.verdict import Evidence

INCARNATION = f"(extract(epoch FROM {STARTED})::text || ' ' || pg_relation_filepath('installation'::regclass))"
"""SQL: changes when the database is started, and when its tables are filled again. (A table that is dropped, truncated,
rewritten or copied gets another file.)"""

TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"
"""SQL: changes when a standby is promoted, and when a backup is recovered to a point in time. (`pg_control_checkpoint`
has the new timeline only after the next checkpoint.)"""

DATABASE_ID = (
    "(SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) || '.' || 'installation'::regclass::oid"
)
WRITTEN_NOW = f"({DATABASE_ID} || '.' || pg_current_xact_id()::xid)"
WRITTEN = f"({DATABASE_ID} || '.' || xmin)"
"""SQL: the database, the table and the transaction that wrote the row. A restored dump or a subscriber writes it in
another transaction than the row says; pg_upgrade, VACUUM FULL and standbys preserve all three."""

SYNCHRONOUS = """(current_setting('synchronous_standby_names') <> ''
                  AND current_setting('synchronous_commit') NOT IN ('off', 'local'))"""
"""SQL: whether commits wait for a standby."""

STATE = text(
    f"""
    SELECT id, mark, held_since IS NOT NULL AS held, behind, held_reason AS reason,
           checked IS NOT DISTINCT FROM {INCARNATION} AS confirmed, {INCARNATION} AS incarnation
      FROM installation
    """
)
"""The installation, and whether this incarnation of the database has been confirmed."""
RAISE = text(
    f"""
    UPDATE installation
       SET mark = mark + 1, looked_at = clock_timestamp(), synchronous = {SYNCHRONOUS},
           file_noted = file_noted OR :file, written = {WRITTEN_NOW}
     WHERE id = :id AND held_since IS NULL AND checked = {INCARNATION} AND mark >= :known
       AND (looked_at IS NULL OR clock_timestamp() - looked_at NOT BETWEEN interval '0' AND interval '0.9 s')
    """
)
"""Raises the mark, once a second: not where sending is held, nor where the incarnation or the mark is unexpected."""
EVIDENCE = text(
    f"""
    SELECT mark, written IS NULL AS first, coalesce(written <> {WRITTEN}, false) AS copied,
           coalesce(timeline <> {TIMELINE}, false) AS promoted, synchronous, file_noted,
           witnessed AND examined = {INCARNATION} AS witnessed,
           CASE WHEN examined = {INCARNATION} THEN extract(epoch FROM clock_timestamp() - examined_since)::float8
                ELSE 0 END AS waited,
           (SELECT count(*) FROM lease l WHERE (l.name LIKE 'worker:%' OR l.name LIKE 'api:%')
                                           AND l.held_until > i.looked_at
                                           AND l.incarnation IS DISTINCT FROM {INCARNATION}) AS missing
      FROM installation i WHERE id = :id AND held_since IS NULL FOR UPDATE OF i
    """
)
"""All that is known about this incarnation, in one snapshot, under a lock of the row: one worker decides."""
WAIT = text(
    f"""
    UPDATE installation
       SET examined_since = CASE WHEN examined = {INCARNATION} THEN examined_since ELSE clock_timestamp() END,
           examined = {INCARNATION}, witnessed = :witnessed, written = {WRITTEN_NOW}
     WHERE id = :id
    """
)
"""Notes since when witnesses are awaited. A new incarnation starts the wait again."""
CONFIRM = text(
    f"""
    UPDATE installation
       SET mark = mark + 1, looked_at = clock_timestamp(), checked = {INCARNATION}, timeline = {TIMELINE},
           synchronous = {SYNCHRONOUS}, file_noted = file_noted OR :file, written = {WRITTEN_NOW}
     WHERE id = :id
    """
)
"""Confirms this incarnation: workers may claim from it."""
HOLD = text(
    """
    UPDATE installation
       SET held_since = coalesce(held_since, clock_timestamp()), held_reason = coalesce(held_reason, :reason),
           behind = GREATEST(behind, :known - mark)
     WHERE id = :id AND (held_since IS NULL OR behind < :known - mark)
    """
)
"""Holds sending, and notes how far the mark was behind. The first reason stays."""
RELEASE = text(
    f"""
    UPDATE installation
       SET mark = GREATEST(mark + behind, :known) + 1, behind = 0, held_since = NULL, held_reason = NULL,
           checked = {INCARNATION}, timeline = {TIMELINE}, file_noted = false, written = {WRITTEN_NOW}
     WHERE held_since IS NOT NULL
    """
)
"""Releases sending. The mark continues above all noted marks, so that no copy can reach it unseen."""
PRESENT = text(
    """
    INSERT INTO lease (name, holder, held_until, incarnation)
    VALUES (:name, split_part(:name, ':', 2), clock_timestamp() + make_interval(secs => :seconds), :incarnation)
    ON CONFLICT (name) DO UPDATE SET held_until = EXCLUDED.held_until, incarnation = EXCLUDED.incarnation
    """
)
"""Notes that a process is alive, and with which incarnation it has compared what it knows."""


class State(NamedTuple):
    """The mark, and whether and why sending is held."""

    id: UUID
    mark: int
    held: bool
    behind: int
    """How far the mark was behind a noted one, in seconds of operation."""
    reason: str | None
    confirmed: bool
    """Whether this incarnation of the database has been confirmed."""
    incarnation: str


def state_of(connection: Connection) -> State:
    """The installation's current state."""
    return State(*connection.execute(STATE).one())


def evidence_of(connection: Connection, installation: UUID, known: int, lost: int) -> Evidence | None:
    """All that is known about this incarnation; locks the row. None if sending is held already."""
    row = connection.execute(EVIDENCE, {"id": installation}).one_or_none()
    return None if row is None else Evidence(**row._asdict(), known=known, lost=lost)


def release(connection: Connection, known: int) -> bool:
    """Release sending; the mark continues above all noted marks. False if sending was not held."""
    return bool(connection.execute(RELEASE, {"known": known}).rowcount)
