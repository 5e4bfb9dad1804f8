"""What errors of the database mean: a value refused, a full disk, or a commit that may have taken effect.

The driver calls some errors operational, like an outage, that are about one value.
"""

import shutil
from pathlib import Path

import psycopg
from sqlalchemy.exc import DataError, DBAPIError, OperationalError

VALUE_ERROR_CLASSES = ("22", "54")
"""Classes of SQLSTATEs that are about a value: it is invalid, or too large, for instance for an index."""
MIN_FREE_BYTES = 64 << 20
"""Free bytes below which Postgres may be unable to write its log and stops."""
DISK_FULL = "53100"
"""SQLSTATE disk_full."""
NOT_COMMITTED = frozenset({"57P01", "57P05", "25P03", "25P04"})
"""SQLSTATEs with which the server ends a session before it runs what it was sent: a shutdown, an idle session or
transaction, or one that took too long."""


def sqlstate_of(error: Exception) -> str | None:
    """The SQLSTATE of an error, from SQLAlchemy or from the driver; None if it has none."""
    state: str | None = getattr(getattr(error, "orig", error), "sqlstate", None)
    return state


def is_value_refused(error: Exception) -> bool:
    """Whether the database cannot store a value of the statement: it would refuse that again, but not the others."""
    if isinstance(error, (DataError, psycopg.DataError)):  # those that the driver finds itself have no SQLSTATE
        return True
    is_of_database = isinstance(error, (DBAPIError, psycopg.Error))
    return is_of_database and (sqlstate_of(error) or "").startswith(VALUE_ERROR_CLASSES)


def is_disk_full(error: BaseException) -> bool:
    """Whether the database could not store something because its disk is full."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) == DISK_FULL or "No space left on device" in str(cause)


def shortage(path: Path) -> str | None:
    """A sentence about the disk of this path if it is nearly full, or None."""
    free = shutil.disk_usage(path).free
    if free >= MIN_FREE_BYTES:
        return None
    return f"The disk is full: {free >> 20} MiB are left at {path.absolute()}. Make room."


def may_be_committed(error: Exception) -> bool:
    """Whether the connection was lost during a commit, so that nobody knows whether that took effect."""
    lost = _lost_at_end(error)
    return lost is not None and lost.__context__ is None and getattr(lost, "sqlstate", None) not in NOT_COMMITTED


def cause_of_rollback(error: Exception) -> BaseException | None:
    """The error for which a transaction was rolled back, if the connection was lost during that."""
    lost = _lost_at_end(error)
    return lost.__context__ if lost is not None else None


def _lost_at_end(error: Exception) -> BaseException | None:
    """The driver's error if the connection was lost at the end of a transaction. Its context is the error that was
    handled meanwhile: only a rollback has one."""
    is_lost = isinstance(error, DBAPIError) and error.connection_invalidated and error.statement is None
    return error.orig if isinstance(error, DBAPIError) and is_lost else None


def error_of_autocommit(error: psycopg.Error, *, is_closed: bool) -> Exception:
    """The driver's error of a statement that is its own transaction, as SQLAlchemy would report it.

    If the connection is lost, the statement may be committed.
    """
    if is_closed:
        return OperationalError(None, None, error, hide_parameters=True, connection_invalidated=True)
    return error
