"""Fixtures that let the code wait longer than a slow machine stands still. A test of a limit sets its own.

Loaded by `pytest_plugins` in the top conftest.py. The service's own processes keep their limits.
"""

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
    """`long_sessions` in each test module."""
    with long_sessions():
        yield


@pytest.fixture
def patient_with_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request to an OpenID Connect provider is given up."""
    monkeypatch.setattr("shared.oidc.http.SECONDS", 120.0)


@pytest.fixture
def patient_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    """All spans are exported before a tracer has stopped."""
    monkeypatch.setattr("shared.observability.otlp_tracer.STOP_SECONDS", 120.0)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120")
