"""Databases for tests: empty, migrated, one for each test module."""

from uuid import uuid4

from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine


def fresh_database(server: Postgres) -> Engine:
    """A new database with the schema, on a server of `make_migrated_postgres`: a copy of the one that stands there."""
    main = make_url(server.url)
    admin = make_engine(_url(server, "postgres"), pool=1)
    name = f"test_{uuid4().hex}"
    try:
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {main.database} STRATEGY file_copy"))
    finally:
        admin.dispose()
    return make_engine(_url(server, name))


def _url(server: Postgres, database: str) -> str:
    return make_url(server.url).set(database=database).render_as_string(hide_password=False)
