"""Patience with the database, for this process; the service's own processes keep their limits."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import shared.db.connection
import shared.db.sessions

MILLISECONDS = {"lock_timeout": 60_000, "idle_in_transaction_session_timeout": 600_000}


@contextmanager
def long_sessions() -> Iterator[None]:
    """Sessions may idle, connect and wait for locks for as long as a slow machine stands still."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared.db.connection, "SESSION", shared.db.connection.SESSION | MILLISECONDS)
        patch.setattr(shared.db.connection, "CONNECT_SECONDS", 60)
        patch.setattr(shared.db.sessions, "SESSION_SECONDS", 60.0)
        yield


@pytest.fixture(scope="module", autouse=True)
def patient_sessions() -> Iterator[None]:
    """For a conftest.py to import: `long_sessions` in each test module of its folder."""
    with long_sessions():
        yield
