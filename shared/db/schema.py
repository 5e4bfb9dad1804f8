"""Checks whether a database has the schema of this release, without loading the migration tools."""

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, Text, column, func, select, table
from sqlalchemy.exc import DBAPIError

from shared.db.connection import reading
from shared.db.sessions import REASON, SessionNotKept
from shared.db.tables.running import compatibility

MIGRATIONS = Path(__file__).parent / "migrations"
NEWER = "The database is newer"
REFUSED = "The database refuses the connection"
IS_FINAL = (NEWER, REFUSED, REASON)
"""How problems begin that do not go away by waiting."""
REFUSALS = re.compile(
    r'password authentication failed|no password supplied|(?:role|database) ".*" does not exist|no pg_hba\.conf entry'
)
"""Messages of refused connections for which waiting does not help. The driver gives no SQLSTATE."""
MIGRATED = select(func.to_regclass("alembic_version").is_not(None))
CURRENT = select(column("version_num", Text)).select_from(table("alembic_version"))
OLDEST_CODE = select(compatibility.c.oldest_code)


class WrongSchema(RuntimeError):
    """The database is not at this release's revision. The message says what to do."""


@cache
def revisions() -> tuple[str, ...]:
    """All revisions, oldest first. A migration's file name begins with its revision."""
    return tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


IS_READ_ONLY = select(func.current_setting("transaction_read_only") == "on")
READ_ONLY_PROBLEM = (
    "The database is read-only: it is a standby, or default_transaction_read_only is set (some services set it when a"
    " disk is almost full). Make it writable, or correct DATABASE_URL."
)


def head() -> str:
    """The revision of this release."""
    return revisions()[-1]


def current(connection: Connection) -> str | None:
    """The revision of the database; None if it is empty."""
    if not connection.execute(MIGRATED).scalar():
        return None
    revision: str | None = connection.execute(CURRENT).scalar()
    return revision


def schema_problem(engine: Engine) -> str | None:
    """Why this release cannot use the database, or None. It can use a newer one whose migrations allow for it."""
    try:
        with reading(engine) as connection:
            revision = current(connection)
            newer = revision is not None and revision not in revisions()
            oldest_code = connection.execute(OLDEST_CODE).scalar() if newer else None
            if connection.execute(IS_READ_ONLY).scalar():
                return READ_ONLY_PROBLEM
    except DBAPIError as error:
        if isinstance(error.orig, SessionNotKept):
            return str(error.orig)
        if REFUSALS.search(str(error.orig)):
            return f"{REFUSED}: {error.orig}. Check DATABASE_URL."
        return f"The database does not answer: {error.orig}"
    if revision == head() or (oldest_code is not None and oldest_code <= head()):
        return None
    if not newer:
        return "The database is not migrated. Run `bulksms migrate`."
    return f"{NEWER} than this code: at revision {revision}, not {head()}. Run the newer release."
