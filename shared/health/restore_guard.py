"""Finding about the guard against restored databases, and about the file that GUARD_FILE names."""

from pathlib import Path

from sqlalchemy import Connection, func, select

from shared.db.expressions import is_live
from shared.db.tables.running import installation, lease
from shared.guard import Notes, State, state_of
from shared.guard.verdict import STALE
from shared.health.finding import Finding

NAME = "restore guard"
FILE_NOTED = select(installation.c.file_noted)
WORKERS = select(func.count()).select_from(lease).where(lease.c.name.like("worker:%"), is_live(lease.c.held_until))


def check_guard(connection: Connection, guard_file: Path | None) -> Finding:
    """Check that nothing is held, and that workers note the mark in GUARD_FILE."""
    state = state_of(connection)
    if state.held:
        detail = f"{state.reason}: nothing is sent"
        return Finding(NAME, "wrong", detail, "See docs/operating/backup.md, then: bulksms guard release")
    if not state.confirmed:
        detail = "nothing is sent until a worker has checked that the database has lost no commits"
        return Finding(NAME, "notice", detail, "Checking takes a few seconds while workers run.")
    if guard_file is None:
        detail = "the database has lost nothing; without GUARD_FILE a restored copy of its files may go unnoticed"
        return Finding(NAME, "notice", detail, "Set GUARD_FILE to a file outside the database's backups.")
    return _file(connection, state, guard_file) or Finding(NAME, "ok", "the database has lost nothing")


def _file(connection: Connection, state: State, file: Path) -> Finding | None:
    """What is wrong with the file, if anything."""
    noted = Notes(None, file).in_file(state.id)
    if noted.mark is None:
        if _is_missing(file) and connection.execute(FILE_NOTED).scalar_one():
            detail = f"the database has lost nothing; GUARD_FILE={file} is not on this machine, and was not checked"
            return Finding(NAME, "notice", detail, "Run `bulksms doctor` where a worker runs.")
        detail = f"GUARD_FILE={file} {noted.problem}: a restored copy of the database's files may go unnoticed"
        return Finding(NAME, "wrong", detail, "Set GUARD_FILE to a file that workers can write, and restart them.")
    behind = state.mark - noted.mark
    if behind > STALE and connection.execute(WORKERS).scalar_one():
        detail = f"the mark in GUARD_FILE={file} is {behind:,} s behind: a restored copy may go unnoticed"
        remedy = "The workers' logs say why they cannot write it; if they do not, workers have another GUARD_FILE."
        return Finding(NAME, "wrong", detail, remedy)
    return None


def _is_missing(file: Path) -> bool:
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
