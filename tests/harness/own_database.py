"""A database for each test: a module that says `engine = own_database` finds nothing of its other tests in it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bulksms.local.postgres import Postgres
from tests.harness.database import disposable_database


@pytest.fixture
def own_database(postgres_server: Postgres) -> Iterator[Engine]:
    """A migrated, empty database."""
    with disposable_database(postgres_server) as engine:
        yield engine
