"""A database without tables."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine


@pytest.fixture
def empty(postgres_server: Postgres) -> Iterator[Engine]:
    """A database without tables."""
    admin = make_engine(postgres_server.url, pool=1)
    name = f"empty_{uuid4().hex}"
    with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    engine = make_engine(make_url(postgres_server.url).set(database=name).render_as_string(hide_password=False))
    yield engine
    engine.dispose()
