"""The `alone` fixture: erasures are checked in the whole database."""

from collections.abc import Iterator

import pytest

from bulksms.local.postgres import Postgres
from tests.harness.database import disposable_database
from tests.harness.service import Service


@pytest.fixture
def alone(postgres_server: Postgres) -> Iterator[Service]:
    """A service whose database nobody else has written into."""
    with disposable_database(postgres_server) as engine:
        yield Service(engine)
