"""Tells errors that are about a value from others. The driver calls some of them operational, like an outage."""

import psycopg
from sqlalchemy.exc import DataError, DBAPIError

VALUE_ERROR_CLASSES = ("22", "54")
"""Classes of SQLSTATEs that are about a value: it is invalid, or too large, for instance for an index."""


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
