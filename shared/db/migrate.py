"""Migrates a database to the schema of this release. `shared.db.schema` checks it."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, func, select, text

from shared.db.partitions import make_partitions
from shared.db.schema import MIGRATIONS, head

ONE_AT_A_TIME = select(func.pg_advisory_xact_lock(7_305_241))
LONG_WAIT = text("SET LOCAL lock_timeout = '5min'")
"""Others may be migrating."""
NO_TIMEOUT = text("SET LOCAL statement_timeout = 0")
"""Migrating a large table takes long."""


def migrate(engine: Engine) -> str:
    """Apply every outstanding migration; returns the revision reached. Concurrent callers wait for each other."""
    with engine.begin() as connection:
        for statement in (LONG_WAIT, NO_TIMEOUT, ONE_AT_A_TIME):
            connection.execute(statement)
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        make_partitions(connection)
    return head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config
