"""Error messages for operators: one sentence, without a traceback."""

from sqlalchemy.exc import DataError, InterfaceError, OperationalError, ProgrammingError

from api.problems import Problem
from bulksms.local.errors import LocalError
from shared.accounts.administration import Refused
from shared.db.schema import WrongSchema
from shared.db.sessions import SessionNotKept
from shared.health.finding import first_line
from shared.settings import SettingsError

UNDEFINED = ("42P01", "42703", "42883")
"""SQLSTATEs: undefined table, column or function."""


def sentence_of(error: Exception) -> str | None:
    """The message for an expected error; None for a bug, and for output that nobody reads, which click expects."""
    match error:
        case Refused() | SettingsError() | LocalError() | WrongSchema():
            return str(error)
        case Problem():
            return str(error.args[1])
        case OperationalError() if isinstance(error.orig, SessionNotKept):
            return str(error.orig)
        case OperationalError() | InterfaceError():
            return f"The database does not answer. Run `bulksms doctor`.\n{error.orig}"
        case ProgrammingError() if getattr(error.orig, "sqlstate", None) in UNDEFINED:
            return "The database schema does not match this release. Run `bulksms migrate`."
        case DataError():
            return f"The database refuses a value: {first_line(error)}."
        case UnicodeEncodeError() if error.encoding != "utf-8":
            return f"Standard output cannot show {error.object[error.start]!r} in {error.encoding}: set PYTHONUTF8=1."
        case UnicodeEncodeError():
            return f"{error.object[: error.end][-20:]!r} is not text in UTF-8."
        case BrokenPipeError():
            return None
        case OSError():
            return f"{error.filename or 'The system'}: {error.strerror or error}."
        case _:
            return None
