"""A database for each test module."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine

from bulksms.local.postgres import Postgres
from tests.harness.database import disposable_database


@pytest.fixture(scope="module")
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A migrated, empty database."""
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A transaction that is rolled back after the test."""
    with engine.connect() as connection:
        yield connection
        connection.rollback()
