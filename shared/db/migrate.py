"""Migrates a database to the schema of this release. `shared.db.schema` checks it."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, text

from shared.db.partitions import make_partitions
from shared.db.schema import MIGRATIONS, head

LOCK = 7_305_241


def migrate(engine: Engine) -> str:
    """Apply every outstanding migration; returns the revision reached. Concurrent callers wait for each other."""
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL lock_timeout = '5min'"))
        connection.execute(text("SET LOCAL statement_timeout = 0"))  # migrating a large table takes long
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        make_partitions(connection)
    return head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config
