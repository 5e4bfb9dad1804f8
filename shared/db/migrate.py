"""Migrates a database to the schema of this release, beside processes of the release before. `shared.db.schema` checks
it."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, bindparam, func, select, update
from sqlalchemy.exc import OperationalError

from shared.db.advisory_locks import MIGRATION
from shared.db.partitions import make_partitions
from shared.db.schema import MIGRATIONS, WrongSchema, current, head, revisions, schema_problem
from shared.db.tables.running import compatibility

log = logging.getLogger(__name__)

LOCK = select(func.pg_advisory_lock(MIGRATION))
SET = select(func.set_config(bindparam("name"), bindparam("value"), False))
OTHERS_SECONDS = 300
"""How long to wait for another process that migrates."""
LOCK_SECONDS, PAUSE_SECONDS = 0.3, 1.0
"""While a migration waits for the lock of a table, everything that uses the table waits behind it. So it waits for
LOCK_SECONDS at most, and tries again after a pause. After a second, Postgres looks for deadlocks, and would end a
request that waits for the migration rather than the migration, which began to wait later."""
PATIENCE_SECONDS = 300.0
"""How long it goes on trying."""
GIVES_WAY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
"""Errors that mean a conflicting lock; the migration was rolled back and is retried."""

NOTE_OLDEST = update(compatibility).values(oldest_code=bindparam("revision"))


def migrate(engine: Engine) -> str:
    """Apply every outstanding migration; returns the revision reached. Concurrent callers wait for each other.

    An empty database is migrated in one transaction. Otherwise each migration is one, so that no lock is held for
    longer than its own migration takes. A newer database that this release can use is left as it is. Raises
    WrongSchema for another one, and LockNotAvailable or DeadlockDetected without its locks within PATIENCE_SECONDS.
    """
    with _alone(engine) as connection:
        done = current(connection)
        connection.rollback()
        if done is None:
            with connection.begin():
                _upgrade(connection, head())
                make_partitions(connection)
        elif done not in revisions():
            problem = schema_problem(engine)
            if problem is not None:
                raise WrongSchema(problem)
            return done
        else:
            for revision in [each for each in revisions() if each > done]:
                _migrate_one(connection, revision)
            with connection.begin():
                make_partitions(connection)
    return head()


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """A connection while no other process migrates."""
    with engine.connect() as connection:
        try:
            _set_timeout(connection, "lock", OTHERS_SECONDS)
            _set_timeout(connection, "statement", 0)  # migrating a large table takes long
            _set_timeout(connection, "idle_in_transaction_session", 0)
            connection.execute(LOCK)
            _set_timeout(connection, "lock", LOCK_SECONDS)
            connection.commit()
            yield connection
        finally:
            connection.invalidate()  # with its settings and its lock


def _set_timeout(connection: Connection, name: str, seconds: float) -> None:
    connection.execute(SET, {"name": f"{name}_timeout", "value": f"{seconds}s"})


def _migrate_one(connection: Connection, revision: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if is_transactional(revision):
                with connection.begin():
                    _upgrade(connection, revision)
            else:
                _upgrade_step_by_step(connection, revision)
            return
        except (OperationalError, *GIVES_WAY) as error:  # through SQLAlchemy, or of its driver
            cause = getattr(error, "orig", error)
            if not isinstance(cause, GIVES_WAY) or time.monotonic() > deadline:
                raise
            log.info("a table is in use; revision %s will be tried again: %s", revision, cause)
            connection.rollback()
            time.sleep(PAUSE_SECONDS)


def _upgrade(connection: Connection, revision: str) -> None:
    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
    connection.execute(NOTE_OLDEST, {"revision": oldest_code(revision)})


def _upgrade_step_by_step(connection: Connection, revision: str) -> None:
    """Without a transaction, as CREATE INDEX CONCURRENTLY needs it. It may wait for long: nobody waits for it then."""
    connection.execution_options(isolation_level="AUTOCOMMIT")
    try:
        _set_timeout(connection, "lock", 0)
        _upgrade(connection, revision)
        _set_timeout(connection, "lock", LOCK_SECONDS)
    finally:
        connection.commit()
        connection.execution_options(isolation_level="READ COMMITTED")


def migration_config() -> Config:
    """Alembic's configuration."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def module_of(revision: str) -> Any:
    """The module of a migration."""
    script = ScriptDirectory.from_config(migration_config()).get_revision(revision)
    assert script is not None
    return script.module


def is_transactional(revision: str) -> bool:
    """Whether a migration is one transaction; otherwise each of its statements is."""
    return bool(getattr(module_of(revision), "transactional", True))


def oldest_code(revision: str) -> str:
    """The revision of the oldest code that can use a database at this one.

    Each migration says in `compatible` whether code of the revision before it can go on.
    """
    line = [each for each in revisions() if each <= revision]
    while len(line) > 1 and getattr(module_of(line[-1]), "compatible", False):
        line.pop()
    return line[-1]
