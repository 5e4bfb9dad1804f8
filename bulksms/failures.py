"""What an operator is told of an error: one sentence, without a traceback."""

from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError

from api.http.problems import Problem
from bulksms.local.errors import LocalError
from shared.accounts.administration import Refused
from shared.db.sessions import SessionNotKept
from shared.settings import SettingsError

UNDEFINED = ("42P01", "42703", "42883")
"""SQLSTATE of a table, column or function that the database does not have."""


def sentence_of(error: Exception) -> str | None:
    """What to say of it; None of an error that is a fault of the program."""
    match error:
        case Refused() | SettingsError() | LocalError():
            return str(error)
        case Problem():
            return str(error.args[1])
        case OperationalError() if isinstance(error.orig, SessionNotKept):
            return str(error.orig)
        case OperationalError() | InterfaceError():
            return f"The database does not answer. `bulksms doctor` says more.\n{error.orig}"
        case ProgrammingError() if getattr(error.orig, "sqlstate", None) in UNDEFINED:
            return "The database schema does not match this release. Run `bulksms migrate`."
        case _:
            return None
