"""The `service` fixture: tests/harness/service.py says how to use it."""

import logging
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine

import shared.job_failures
from api.auth import tokens
from api.event_loop import ThreadOnlyPool
from api.http import bounded_queries
from bulksms.local.postgres import Postgres
from shared import outbox
from shared.db.pools import CountedPool
from shared.observability.logs import JsonLines
from tests.harness.database import disposable_database
from tests.harness.leaks import leaks
from tests.harness.operator import OperatorClient
from tests.harness.service import SECRET_KEY, Service


@pytest.fixture(scope="module", autouse=True)
def heard_at_once() -> Iterator[None]:
    """Who listens to events is asked each time, so that no test waits until every process knows it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outbox, "CACHE_SECONDS", 0.0)
        patch.setattr(outbox, "MARGIN_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A migrated, empty database."""
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.fixture(autouse=True)
def nothing_leaks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """After the test, no line of the log as it is written holds a phone or a secret."""
    caplog.set_level(logging.DEBUG)
    for pool in (CountedPool, ThreadOnlyPool):  # four lines for each transaction; test_leaks.py reads them
        caplog.set_level(logging.INFO, pool.__module__)
    lines = JsonLines()
    yield
    written = [lines.format(record) for when in ("setup", "call") for record in caplog.get_records(when)]
    assert [line for line in written if leaks(line, SECRET_KEY)] == []


@pytest.fixture(autouse=True)
def whole_rounds() -> Iterator[None]:
    """What workers do by themselves each second does all that is due, however slow the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared.job_failures, "ROUND_SECONDS", 3600.0)
        yield


@pytest.fixture(autouse=True)
def patient_lists() -> Iterator[None]:
    """A statement of a list may take as long as a slow machine needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_queries, "STATEMENT_SECONDS", 59)
        yield


@pytest.fixture
def no_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of rate limits stands still: what is used up stays so, however slow the machine is."""
    now = time.monotonic()
    monkeypatch.setattr("api.limits.rate_limits.time", SimpleNamespace(monotonic=lambda: now))


@pytest.fixture
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits, and what was taken back, are read for each request, as two seconds later."""
    monkeypatch.setattr(tokens, "FRESH", 0.0)
    monkeypatch.setattr(tokens, "MAX_AGE_SECONDS", 0.0)


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account and everything that serves it."""
    return Service(engine)


@pytest.fixture
def operator(service: Service) -> OperatorClient:
    """An operator key of all scopes."""
    return OperatorClient(service)
