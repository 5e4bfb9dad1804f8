"""Tells whether a database has the schema that this code needs, without loading what `shared.db.migrate` migrates
with."""

import logging
import re
import time
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from shared.db.connection import reading
from shared.db.sessions import REASON, SessionNotKept

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
NEWER = "The database is newer"
REFUSED = "The database refuses the connection"
REFUSALS = re.compile(
    r'password authentication failed|no password supplied|(?:role|database) ".*" does not exist|no pg_hba\.conf entry'
)
"""What Postgres says of a connection that it will refuse tomorrow too. The driver gives no SQLSTATE for it."""
MIGRATED = text("SELECT to_regclass('alembic_version') IS NOT NULL")
CURRENT = text("SELECT version_num FROM alembic_version")


class WrongSchema(RuntimeError):
    """The database is not at the revision that this code was written for. The message says what to do."""


@cache
def revisions() -> tuple[str, ...]:
    """Every revision, oldest first. Each migration's file name begins with its own."""
    return tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def head() -> str:
    """The revision that this code was written for."""
    return revisions()[-1]


def current(connection: Connection) -> str | None:
    """The revision that the database is at; None for an empty one."""
    if not connection.execute(MIGRATED).scalar():
        return None
    revision: str | None = connection.execute(CURRENT).scalar()
    return revision


def wait_for_schema(engine: Engine, seconds: float = 60.0) -> None:
    """Wait until the database answers and is migrated.

    Raises WrongSchema when it is newer than this code, refuses the connection, is behind a pooler that keeps no
    sessions, or is not migrated within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        problem = schema_problem(engine)
        if problem is None:
            return
        if problem.startswith((NEWER, REFUSED, REASON)) or time.monotonic() > deadline:
            raise WrongSchema(problem)
        log.info("waiting for the database: %s", problem)
        time.sleep(1)


def schema_problem(engine: Engine) -> str | None:
    """What keeps this code from using the database; None when it may."""
    try:
        with reading(engine) as connection:
            revision = current(connection)
    except DBAPIError as error:
        if isinstance(error.orig, SessionNotKept):
            return str(error.orig)
        if REFUSALS.search(str(error.orig)):
            return f"{REFUSED}: {error.orig}. Check DATABASE_URL."
        return f"The database does not answer: {error.orig}"
    if revision == head():
        return None
    if revision is None or revision in revisions():
        return "The database is not migrated. Run `bulksms migrate`."
    return f"{NEWER} than this code: at revision {revision}, not {head()}. Run the newer release."
