"""A list examines a bounded number of rows for each page, whatever its filters and however much there is."""

from typing import Any

import pytest
from sqlalchemy import Engine, text

from api.http import bounded_queries as bounded
from api.http.bounded_queries import bound_statements, reading_list
from api.resources.usage import routes as usage
from shared.db.connection import reading, transaction
from shared.ids import new_id
from shared.lifecycle import MessageStatus
from shared.messages import search as message_search
from tests.harness.pages import every, pages
from tests.harness.service import Service
from tests.harness.statements import statements
from tests.harness.times import ahead

DELIVERED = text(
    "INSERT INTO delivery (webhook_id, event_id, type, state, attempts, url) VALUES (:webhook, :id, 'x', :state, 1, '')"
)
RECEIVED = text(
    """
    INSERT INTO inbound (id, account_id, phone, sender_id, message, keyword, segments, missing, carrier)
    VALUES (:id, :account, '254711000001', 'ACME', '', :key, 1, 0, 'simulator')
    """
)
REFUSED, NAIROBI = "99902000002", "254711000001"
OWN_SECONDS = bounded.STATEMENT_SECONDS
"""What the constant is by itself: for tests it is longer."""


def batches_read(executed: list[tuple[str, Any]]) -> int:
    return sum("FROM message" in statement for statement, _ in executed)


def test_each_status_finds_what_the_whole_list_shows(service: Service) -> None:
    service.bulk([REFUSED, NAIROBI, "99901000001"])
    service.deliver_receipts()
    service.bulk([NAIROBI, "254711000002"], send_at=ahead())
    canceled = service.bulk([NAIROBI, "254711000003"], send_at=ahead()).json["send_id"]
    service.post(f"/sends/{canceled}/cancel")
    paused = service.bulk([NAIROBI], send_at=ahead()).json["send_id"]
    service.post(f"/sends/{paused}/pause")
    everything = service.get("/messages").json["data"]
    assert {message["status"] for message in everything} >= {"failed", "delivered", "scheduled", "canceled"}
    for status in MessageStatus:
        found = every(service.get, f"/messages?status={status}")
        assert found == [message for message in everything if message["status"] == status]
        for send in {message["send_id"] for message in everything}:
            of_send = every(service.get, f"/sends/{send}/messages?status={status}")
            assert of_send == [message for message in found if message["send_id"] == send]


def test_the_messages_of_a_send_are_read_in_bounded_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(engine, credits=5000)
    send = service.bulk([str(254712000000 + number) for number in range(3001)], send_at=ahead()).json["send_id"]
    monkeypatch.setattr(message_search, "MAX_MESSAGES", 1000)
    with statements(service.api_engine) as executed:
        first = service.get(f"/sends/{send}/messages?status=queued&limit=1").json
    assert (first["data"], first["next_cursor"] is None, batches_read(executed)) == ([], False, 2)
    without = pages(service.get, f"/sends/{send}/messages?status=queued")
    assert len(without) > 2
    assert not any(page["data"] for page in without)
    found = [
        message["phone"]
        for page in pages(service.get, f"/sends/{send}/messages?limit=1000")
        for message in page["data"]
    ]
    assert found == [str(254712000000 + number) for number in range(3001)]
    table = service.get(f"/sends/{send}/messages", headers={"Accept": "text/csv"})
    assert [line.split(",")[1] for line in table.text.splitlines()[1:]] == found


def test_a_page_with_a_filter_examines_a_bounded_number_of_rows(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = service.new_group([])
    for number in range(7):
        rare = number in (0, 6)
        service.send(reference="rare" if rare else "other")
        service.post("/suppressions", phones=[str(254713000000 + number)], reason="rare" if rare else "other")
        contact = {"phone": str(254713000000 + number), "tags": ["rare" if rare else "other"]}
        service.post(f"/groups/{group}/contacts", contacts=[contact])
    lists = ("/sends?reference=rare", "/suppressions?reason=rare", f"/groups/{group}/contacts?tag=rare")
    found = [service.get(path).json["data"] for path in lists]
    tables = [service.get(path, headers={"Accept": "text/csv"}).text for path in lists[1:]]
    assert list(map(len, found)) == [2, 2, 2]
    monkeypatch.setattr(bounded, "MAX_ROWS_EXAMINED", 3)
    for path, whole in zip(lists, found, strict=True):
        read = pages(service.get, path)
        assert [len(page["data"]) for page in read] == [1, 0, 1]
        assert [entry for page in read for entry in page["data"]] == whole
    assert [service.get(path, headers={"Accept": "text/csv"}).text for path in lists[1:]] == tables


def test_sends_in_progress_are_examined_in_parts(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        service.bulk([NAIROBI], send_at=ahead())  # not in progress, so not examined
        reference = "rare" if number in (0, 6) else "other"
        send = service.bulk([NAIROBI], send_at=ahead(), reference=reference).json["send_id"]
        state = "held" if number in (0, 6) else "paused"
        service.execute("UPDATE send SET state = :state WHERE id = :send", state=state, send=send)
    monkeypatch.setattr(bounded, "MAX_ROWS_EXAMINED", 3)
    for query in ("reference=rare", "status=held", "reference=rare&status=held"):
        read = pages(service.get, f"/sends?in_progress=true&{query}")
        assert [len(page["data"]) for page in read] == [1, 0, 1]


def test_deliveries_and_messages_from_phones_are_examined_in_parts(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = service.post("/webhooks", url="https://example.com/hook", events=["send.completed"]).json["webhook_id"]
    for number in range(7):
        state = "failed" if number in (0, 6) else "delivered"
        keyword = "stop" if number in (0, 6) else None
        values = {"id": new_id(), "webhook": webhook, "state": state, "account": service.account_id, "key": keyword}
        service.execute(DELIVERED, **values)
        service.execute(RECEIVED, **values)
    monkeypatch.setattr(bounded, "MAX_ROWS_EXAMINED", 3)
    for path in (f"/webhooks/{webhook}/deliveries?status=failed", "/inbound?keyword=stop"):
        assert [len(page["data"]) for page in pages(service.get, path)] == [1, 0, 1]


def test_a_statement_of_a_list_that_takes_too_long_is_ended(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "STATEMENT_SECONDS", 0.05)
    monkeypatch.setattr(usage, "COUNTED_AT", text("SELECT pg_sleep(50)"))
    response = service.get("/usage")
    assert (response.status_code, response.json["code"], response.json["retryable"]) == (503, "unavailable", True)
    assert response.headers["Retry-After"]
    assert "too long" in response.json["detail"]
    assert service.scalar("SHOW statement_timeout") == "1min"


def test_the_next_user_of_a_connection_has_its_own_bound(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "STATEMENT_SECONDS", OWN_SECONDS)
    with reading_list(service.engine) as connection:
        session = connection.execute(text("SELECT pg_backend_pid()")).scalar()
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "5s"
    assert service.scalar("SELECT pg_backend_pid()") == session
    assert service.scalar("SHOW statement_timeout") == "1min"


def test_a_list_that_writes_has_the_same_bound_until_its_transaction_ends(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "STATEMENT_SECONDS", OWN_SECONDS)
    with transaction(service.engine) as connection:
        session = connection.execute(text("SELECT pg_backend_pid()")).scalar()
        bound_statements(connection)
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "5s"
    with reading(service.engine) as connection:
        assert connection.execute(text("SELECT pg_backend_pid()")).scalar() == session
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "1min"
