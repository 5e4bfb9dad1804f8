"""Databases for tests: empty, migrated, one for each test module."""

from uuid import uuid4

from sqlalchemy import URL, Engine, text
from sqlalchemy.engine import make_url

from api.http.event_loop import ThreadOnlyPool
from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine

_api_engines: dict[URL, Engine] = {}


def api_engine(engine: Engine) -> Engine:
    """An API's engine for the same database, whose connections are for threads only."""
    if engine.url not in _api_engines:
        url = engine.url.render_as_string(hide_password=False)
        _api_engines[engine.url] = make_engine(url, application="bulksms-api", pool_class=ThreadOnlyPool)
    return _api_engines[engine.url].execution_options(**engine.get_execution_options())


def dispose(engine: Engine) -> None:
    """Close the connections of an engine and of its API's."""
    engine.dispose()
    if engine.url in _api_engines:
        _api_engines.pop(engine.url).dispose()


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
