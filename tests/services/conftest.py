"""A database for each test module, and patience with it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine

import shared.db.connection
import shared.db.sessions
from bulksms.local.postgres import Postgres
from tests.harness.database import fresh_database

PATIENT = {"lock_timeout": 60_000, "idle_in_transaction_session_timeout": 600_000}
"""In milliseconds. The service's own processes have other limits."""


@pytest.fixture(scope="module", autouse=True)
def patient_sessions() -> Iterator[None]:
    """This process's sessions may idle, connect and wait for as long as a slow machine stands still."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared.db.connection, "SESSION", shared.db.connection.SESSION | PATIENT)
        patch.setattr(shared.db.connection, "CONNECT_SECONDS", 60)
        patch.setattr(shared.db.sessions, "SESSION_SECONDS", 60.0)
        yield


@pytest.fixture(scope="module")
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A migrated, empty database."""
    engine = fresh_database(postgres_server)
    yield engine
    engine.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A transaction that is rolled back after the test."""
    with engine.connect() as connection:
        yield connection
        connection.rollback()
