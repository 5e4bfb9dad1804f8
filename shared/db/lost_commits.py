"""Tells a commit that may have taken effect, because the connection was lost during it, from one that did not."""

import psycopg
from sqlalchemy.exc import DBAPIError, OperationalError

NOT_COMMITTED = frozenset({"57P01", "25P03"})
"""SQLSTATEs with which the server ends a session before it runs what it was sent: a shutdown, an idle transaction."""


def may_be_committed(error: Exception) -> bool:
    """Whether the connection was lost during a commit, so that nobody knows whether that took effect."""
    return (
        isinstance(error, DBAPIError)
        and error.connection_invalidated
        and error.statement is None
        and getattr(error.orig, "sqlstate", None) not in NOT_COMMITTED
    )


def lost_commit(error: psycopg.Error) -> OperationalError:
    """The driver's error for a connection lost during a commit, as SQLAlchemy reports it."""
    return OperationalError(None, None, error, hide_parameters=True, connection_invalidated=True)
