"""A webhook that replaces another gets its events, although the account had stopped listening just before."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event, text

from shared import outbox
from tests.harness.service import Service
from tests.integration.loopback import loopback_service
from worker.webhooks.prune import prune

URL = "http://127.0.0.1:9/"
CALLBACK = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi", "callback_url": URL}
REQUESTS = {"webhook": ("/webhooks", {"url": URL}), "callback": ("/sms/send", CALLBACK)}
"""Requests after which the account has a webhook: paths with bodies."""
AGE = text("UPDATE listener SET pulled_at = pulled_at - interval '9 days' WHERE account_id = :account")
AGE_A_LITTLE = text("UPDATE listener SET pulled_at = pulled_at - interval '2 hours' WHERE account_id = :account")
LISTENS = text("SELECT count(*) FROM listener WHERE account_id = :account")
EVENTS = text("SELECT count(*) FROM event WHERE account_id = :account")


service = loopback_service


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Who listens is cached until somebody sleeps. What is in the list is called, last first, while somebody does."""
    now, during = [time.monotonic()], list[Callable[[], None]]()

    def sleep(seconds: float) -> None:
        if during:
            during.pop()()
        now[0] += seconds

    monkeypatch.setattr(outbox, "CACHE_SECONDS", 1_800.0)
    monkeypatch.setattr(outbox, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    return during


def of_account(service: Service, statement: Any) -> Any:
    with service.engine.begin() as connection:
        result = connection.execute(statement, {"account": service.account_id})
        return result.scalar() if result.returns_rows else None


def delete_the_only_webhook(service: Service) -> None:
    """The account is left with a listener that is as old as a webhook of nine days ago."""
    made = service.post("/webhooks", url=URL).json
    of_account(service, AGE)
    prune(service.engine)
    assert of_account(service, LISTENS) == 1, "it listens as long as it has a webhook"
    assert service.delete(f"/webhooks/{made['webhook_id']}").status_code == 200


@contextmanager
def before(service: Service, beginning: str, act: Callable[[], None]) -> Iterator[None]:
    """Calls `act` before each statement of the API that begins so."""

    def call(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().startswith(beginning):
            act()

    event.listen(service.api_engine, "before_cursor_execute", call)
    try:
        yield
    finally:
        event.remove(service.api_engine, "before_cursor_execute", call)


@pytest.mark.usefixtures("sleeps")
@pytest.mark.parametrize("request_", REQUESTS)
def test_its_listener_was_deleted_since_the_process_looked(service: Service, request_: str) -> None:
    path, body = REQUESTS[request_]
    delete_the_only_webhook(service)
    with service.api_engine.connect() as connection:
        assert service.account_id in outbox.listening(connection)
    prune(service.engine)
    assert of_account(service, LISTENS) == 0
    assert service.post(path, **body).status_code == 200
    assert of_account(service, LISTENS) == 1
    outbox._listening.clear()
    service.send()
    assert of_account(service, EVENTS) > 0


@pytest.mark.parametrize("request_", REQUESTS)
def test_its_listener_would_be_deleted_just_before_it_is_stored(service: Service, request_: str) -> None:
    path, body = REQUESTS[request_]
    delete_the_only_webhook(service)
    stored = []

    def prune_now() -> None:
        prune(service.engine)
        stored.append(True)

    with before(service, "INSERT INTO webhook", prune_now):
        assert service.post(path, **body).status_code == 200
    assert stored
    assert of_account(service, LISTENS) == 1


@pytest.mark.usefixtures("sleeps")
def test_who_pulls_again_listens_again(service: Service) -> None:
    service.get("/events")
    of_account(service, AGE)
    with service.api_engine.connect() as connection:
        assert service.account_id in outbox.listening(connection)
    prune(service.engine)
    assert service.get("/events").status_code == 200
    assert of_account(service, LISTENS) == 1


def test_a_request_beside_the_first_one_waits_too(service: Service, sleeps: list[Callable[[], None]]) -> None:
    """Otherwise it would answer before every process knows of the listener."""
    waited = []
    sleeps += [lambda: waited.append(True), lambda: outbox.listen(service.engine, service.account_id)]
    outbox.listen(service.engine, service.account_id)
    assert waited == [True]


def test_nobody_waits_for_a_listener_that_is_renewed(service: Service, sleeps: list[Callable[[], None]]) -> None:
    outbox.listen(service.engine, service.account_id)
    of_account(service, AGE_A_LITTLE)
    sleeps.append(lambda: pytest.fail("it waits"))
    outbox.listen(service.engine, service.account_id)
    outbox.listen(service.engine, service.account_id)


@pytest.mark.usefixtures("sleeps")
def test_a_further_send_with_a_callback_url_neither_asks_for_nor_renews_its_listener(service: Service) -> None:
    assert service.post("/sms/send", **CALLBACK).status_code == 200
    with service.api_engine.connect() as connection:
        assert service.account_id in outbox.listening(connection)
    of_account(service, AGE)
    asked = []

    def notice(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        asked.extend([statement] if "pulled_at" in statement or "INTO listener" in statement else [])

    event.listen(service.api_engine, "before_cursor_execute", notice)
    try:
        assert service.post("/sms/send", **CALLBACK).status_code == 200
    finally:
        event.remove(service.api_engine, "before_cursor_execute", notice)
    assert asked == []
