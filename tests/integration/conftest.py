"""The `service` fixture: see service.py for how to use it in tests of your own."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bulksms.local.postgres import Postgres
from tests.database import fresh_database
from tests.integration.service import Service


@pytest.fixture(scope="module")
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A migrated, empty database."""
    engine = fresh_database(postgres_server)
    yield engine
    engine.dispose()


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account and everything that serves it."""
    return Service(engine)
