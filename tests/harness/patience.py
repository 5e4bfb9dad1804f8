"""Fixtures that let the code wait longer than a slow machine stands still. A test of a limit sets its own.

Loaded by `pytest_plugins` in the top conftest.py. `long_sessions.py` has the same for the database.
"""

import pytest


@pytest.fixture
def patient_with_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request to an OpenID Connect provider is given up."""
    monkeypatch.setattr("shared.oidc.http.SECONDS", 120.0)


@pytest.fixture
def patient_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    """All spans are exported before a tracer has stopped."""
    monkeypatch.setattr("shared.observability.otlp_tracer.STOP_SECONDS", 120.0)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120")
