"""Brings a database to the schema that this code needs, and tells whether it has it."""

import logging
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from shared.ids import first_id_at

log = logging.getLogger(__name__)

LOCK = 7_305_241
WEEKS_AHEAD = 4
NEWER = "The database is newer"


def migrate(engine: Engine) -> str:
    """Apply every outstanding migration; returns the revision reached. Several callers at once wait for each other."""
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL lock_timeout = '5min'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        make_partitions(connection)
    return head()


def head() -> str:
    """The revision that this code was written for."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def current(connection: Connection) -> str | None:
    """The revision that the database is at; None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


class WrongSchema(RuntimeError):
    """The database is not at the revision that this code was written for. The message says what to do."""


def wait_for_schema(engine: Engine, seconds: float = 60.0) -> None:
    """Wait until the database answers and is migrated.

    Raises WrongSchema when it is newer than this code, or not migrated within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        problem = schema_problem(engine)
        if problem is None:
            return
        if problem.startswith(NEWER) or time.monotonic() > deadline:
            raise WrongSchema(problem)
        log.info("waiting for the database: %s", problem)
        time.sleep(1)


def schema_problem(engine: Engine) -> str | None:
    """What keeps this code from using the database; None when it may."""
    try:
        with engine.connect() as connection:
            revision = current(connection)
    except DBAPIError as error:
        return f"The database does not answer: {error.orig}"
    if revision == head():
        return None
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision in known or revision is None:
        return "The database is not migrated. Run `bulksms migrate`."
    return f"{NEWER} than this code: at revision {revision}, not {head()}. Run the newer release."


def make_partitions(connection: Connection, now: datetime | None = None) -> list[str]:
    """Create the weekly partitions of `message` that are missing, from last week to four weeks ahead.

    Returns the names made. A message whose week has no partition goes to `message_default`.
    """
    today = (now or datetime.now(UTC)).replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday() + 7)
    made = []
    for week in range(WEEKS_AHEAD + 2):
        begin = monday + timedelta(weeks=week)
        name = f"message_{begin:%Y%m%d}"
        if connection.execute(text("SELECT to_regclass(:name)"), {"name": name}).scalar() is None:
            low, high = first_id_at(begin), first_id_at(begin + timedelta(weeks=1))
            connection.execute(
                text(
                    f"CREATE TABLE {name} PARTITION OF message FOR VALUES FROM ('{low}') TO ('{high}')"
                    " WITH (fillfactor = 60)"
                )
            )
            made.append(name)
    return made


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
