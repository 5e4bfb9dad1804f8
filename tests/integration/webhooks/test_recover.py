"""Posting again what was not delivered: any number of deliveries, in transactions of bounded size."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, text
from werkzeug.test import TestResponse

from api.problems import Problem
from api.resources.deliveries import routes
from shared.events import deliveries
from shared.ids import new_id
from tests.harness.service import Service
from tests.harness.statements import statements

PAGE = 3
SINCE = "2026-01-01T00:00:00Z"
URL = "https://hooks.example/sms-events"
ADD = text(
    """
    INSERT INTO delivery (webhook_id, event_id, type, state, attempts, next_at, url)
    VALUES (:webhook, :event, 'message.sent', :state, 4,
            CASE WHEN :state = 'pending' THEN now() + interval '1 hour' END, 'https://hooks.example/')
    """
)
REPLAYED = text(
    """
    SELECT event_id FROM delivery
     WHERE webhook_id = :webhook AND state = 'pending' AND attempts = 0 AND next_at <= clock_timestamp()
    """
)
WRITTEN_PER_TRANSACTION = text("SELECT count(*) FROM delivery WHERE webhook_id = :webhook GROUP BY CAST(xmin AS text)")
EPOCH = text("SELECT epoch FROM webhook WHERE id = :webhook")
ALL = text("SELECT * FROM delivery WHERE webhook_id = :webhook ORDER BY event_id")


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few deliveries fill several pages."""
    monkeypatch.setattr(routes, "DELIVERIES_PER_TRANSACTION", PAGE)


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account."""
    return Service(engine)


def new_webhook(service: Service, **states: int) -> str:
    """A webhook with so many deliveries in each state, in turns, all with four attempts."""
    webhook: str = service.post("/webhooks", url=URL).json["webhook_id"]
    in_turns = [state for turn in range(max(states.values())) for state, count in states.items() if turn < count]
    for state in in_turns:
        service.execute(ADD, webhook=webhook, event=new_id(), state=state)
    return webhook


def recover(service: Service, webhook: str, **more: Any) -> TestResponse:
    return service.post(f"/webhooks/{webhook}/recover", **({"since": SINCE} | more))


def replayed(service: Service, webhook: str) -> set[UUID]:
    """The events that were replayed and wait for their first attempt."""
    return set(service.scalars(REPLAYED, webhook=webhook))


def contents(service: Service, webhook: str) -> list[Any]:
    """All deliveries of the webhook."""
    return list(service.execute(ALL, webhook=webhook))


def test_everything_is_replayed_and_no_transaction_writes_more_than_a_page(service: Service) -> None:
    webhook = new_webhook(service, failed=5, pending=5)
    assert recover(service, webhook).status_code == 200
    assert len(replayed(service, webhook)) == 10
    written = service.scalars(WRITTEN_PER_TRANSACTION, webhook=webhook)
    assert sorted(written) == [1, PAGE, PAGE, PAGE]


def test_a_repeated_request_goes_on_after_an_interruption(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook, pages = new_webhook(service, failed=8), list[set[UUID]]()

    def replay_page(connection: Connection, webhook_id: UUID, events: list[UUID]) -> None:
        if len(pages) == 1:
            pages.append(set())
            raise Problem("unavailable", "The database is gone.", headers={"Retry-After": "2"})
        pages.append(set(events))
        deliveries.replay_undelivered(connection, webhook_id, events)

    monkeypatch.setattr(routes, "replay_undelivered", replay_page)
    assert recover(service, webhook).status_code == 503
    assert replayed(service, webhook) == pages[0]
    assert recover(service, webhook).status_code == 200
    assert [len(page) for page in pages] == [PAGE, 0, PAGE, 2]
    assert replayed(service, webhook) == set().union(*pages)
    assert len(replayed(service, webhook)) == 8


def test_a_webhook_that_is_disabled_between_pages_gets_no_more_of_them(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = new_webhook(service, failed=8)

    def replay_page(connection: Connection, webhook_id: UUID, events: list[UUID]) -> None:
        deliveries.replay_undelivered(connection, webhook_id, events)
        connection.execute(text("UPDATE webhook SET state = 'disabled' WHERE id = :webhook"), {"webhook": webhook_id})

    monkeypatch.setattr(routes, "replay_undelivered", replay_page)
    assert recover(service, webhook).json["code"] == "state_conflict"
    assert len(replayed(service, webhook)) == PAGE


def test_another_accounts_webhook_is_not_found_before_anything_is_read_or_changed(service: Service) -> None:
    webhook = new_webhook(service, failed=2)
    other = service.new_token(service.new_account("other", 0))
    before = contents(service, webhook)
    with statements(service.api_engine) as executed:
        response = recover(service, webhook, token=other)
    assert (response.status_code, response.json["code"]) == (404, "webhook_not_found")
    assert [statement for statement, _ in executed if "delivery" in statement or "FROM event" in statement] == []
    assert contents(service, webhook) == before


def test_a_repeated_key_changes_nothing(service: Service) -> None:
    webhook, key = new_webhook(service, failed=2), {"Idempotency-Key": "again"}
    first = recover(service, webhook, headers=key)
    service.execute("UPDATE delivery SET state = 'failed', next_at = NULL")
    before = contents(service, webhook)
    again = recover(service, webhook, headers=key)
    assert (again.json, again.headers["Idempotency-Replayed"]) == (first.json, "true")
    reused = recover(service, webhook, since="2026-01-02T00:00:00Z", headers=key)
    assert reused.json["code"] == "idempotency_key_reused"
    assert contents(service, webhook) == before
    service.delete(f"/webhooks/{webhook}")
    assert recover(service, webhook, headers=key).json == first.json


def test_a_post_in_progress_does_not_overwrite_what_is_replayed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = new_webhook(service, failed=PAGE + 1)
    epoch = service.scalar(EPOCH, webhook=webhook)
    epochs = list[int]()

    def replay_page(connection: Connection, webhook_id: UUID, events: list[UUID]) -> None:
        epochs.append(connection.execute(EPOCH, {"webhook": webhook}).scalar_one())
        deliveries.replay_undelivered(connection, webhook_id, events)

    monkeypatch.setattr(routes, "replay_undelivered", replay_page)
    assert recover(service, webhook).status_code == 200
    assert epochs == [epoch + 1, epoch + 2], "the process with the former epoch can no longer record what it posted"
