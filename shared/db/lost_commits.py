"""Tells a commit that may have taken effect, because the connection was lost during it, from one that did not."""

import psycopg
from sqlalchemy.exc import DBAPIError, OperationalError

NOT_COMMITTED = frozenset({"57P01", "57P05", "25P03", "25P04"})
"""SQLSTATEs with which the server ends a session before it runs what it was sent: a shutdown, an idle session or
transaction, or one that took too long."""


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
