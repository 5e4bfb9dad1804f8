"""The `service` fixture: tests/harness/service.py says how to use it."""

import logging
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from bulksms.local.postgres import Postgres
from shared.observability.logs import JsonLines
from tests.harness.database import dispose, fresh_database
from tests.harness.leaks import leaks
from tests.harness.service import SECRET_KEY, Service


@pytest.fixture(scope="module")
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A migrated, empty database."""
    engine = fresh_database(postgres_server)
    yield engine
    dispose(engine)


@pytest.fixture(autouse=True)
def nothing_leaks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """After the test, no line of the log as it is written holds a phone or a secret."""
    caplog.set_level(logging.DEBUG)
    lines = JsonLines()
    yield
    written = [lines.format(record) for when in ("setup", "call") for record in caplog.get_records(when)]
    assert [line for line in written if leaks(line, SECRET_KEY)] == []


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account and everything that serves it."""
    return Service(engine)
