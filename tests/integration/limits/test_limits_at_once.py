"""Limits on how many objects an account has hold for requests at the same time, also in different processes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, text
from werkzeug.test import TestResponse

from api.resources.suppressions.entries import OptOut, put, read_opt_outs
from shared.accounts.administration import create_key
from shared.sms.numbering import Numbering
from tests.harness.house import wait_until
from tests.harness.service import SECRET_KEY, Service

WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")

Make = Callable[[Connection], object]


def refused_after(service: Service, make: Make, request: Callable[[], TestResponse]) -> tuple[int, str | None]:
    """The status and code of a request that comes while another process is about to commit what it made."""
    with ThreadPoolExecutor(1) as threads, service.engine.connect() as process, service.engine.connect() as other:
        make(process)
        other = other.execution_options(isolation_level="AUTOCOMMIT")
        pending = threads.submit(request)
        wait_until(lambda: pending.done() or bool(other.execute(WAITING).scalar_one()), 60, "the request")
        process.commit()
        response = pending.result(120)
        return response.status_code, response.json.get("code")


@pytest.mark.parametrize("sandbox", [False, True])
def test_opt_outs(service: Service, monkeypatch: pytest.MonkeyPatch, sandbox: bool) -> None:
    monkeypatch.setattr("api.resources.suppressions.entries.MAX_OPT_OUTS", 1)
    ours = service.in_sandbox() if sandbox else service
    theirs = read_opt_outs([OptOut("254711000001", "asked")], Numbering(None))
    refused = refused_after(
        service,
        lambda connection: put(connection, ours.account_id, theirs),
        lambda: ours.post("/suppressions", phones=["254711000002"]),
    )
    assert refused == (409, "suppression_limit")


@pytest.mark.parametrize("by_test_key", [False, True])
def test_api_keys_of_a_sandbox(service: Service, monkeypatch: pytest.MonkeyPatch, by_test_key: bool) -> None:
    """A live key and a test key both make keys of the same sandbox."""
    sandbox = service.in_sandbox()
    monkeypatch.setattr("api.resources.api_keys.routes.MAX_KEYS", 2)
    ours = sandbox if by_test_key else service
    refused = refused_after(
        service,
        lambda connection: create_key(connection, service.account_id, SECRET_KEY, test=True),
        lambda: ours.post("/api-keys", test=True),
    )
    assert refused == (409, "state_conflict")
