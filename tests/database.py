"""Databases for tests: empty, migrated, one for each test module."""

from uuid import uuid4

from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from bulksms.local.postgres import Postgres
from shared.database import make_engine
from shared.migrate import migrate

TEMPLATE = "bulksms_template"


def fresh_database(server: Postgres) -> Engine:
    """A new database with the schema. It is copied from one that is migrated once on each server, which is fast."""
    admin = make_engine(server.url, pool=1)
    name = f"test_{uuid4().hex}"
    try:
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            exists = connection.execute(text("SELECT 1 FROM pg_database WHERE datname = :name"), {"name": TEMPLATE})
            if exists.scalar() is None:
                connection.execute(text(f"CREATE DATABASE {TEMPLATE}"))
                _migrate_template(server)
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy"))
    finally:
        admin.dispose()
    return make_engine(_url(server, name))


def _migrate_template(server: Postgres) -> None:
    engine = make_engine(_url(server, TEMPLATE), pool=1)
    try:
        migrate(engine)
    finally:
        engine.dispose()


def _url(server: Postgres, database: str) -> str:
    return make_url(server.url).set(database=database).render_as_string(hide_password=False)
