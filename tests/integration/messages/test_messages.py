"""What is shown of messages: their texts, their errors, and which ones a search finds."""

import base64
from typing import Any

import pytest
from sqlalchemy import text

from shared.messages import search as message_search
from shared.privacy.erasures import ERASED_PHONE
from tests.harness.service import Service
from tests.harness.statements import statements
from tests.integration.http.test_every_list import rows_read

UNDELIVERED, REFUSED = "99901000001", "99902000002"
NAIROBI, BERLIN = "254711000001", "4915112345678"


def listed(service: Service, query: str = "") -> list[Any]:
    """All messages that a search finds, page by page."""
    found, cursor = [], ""
    while True:
        page = service.get(f"/messages?{query}{cursor}").json
        found += page["data"]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def phones(service: Service, query: str) -> list[str]:
    return [message["phone"] for message in listed(service, query)]


def shown(service: Service, message: str) -> dict[str, Any]:
    response = service.get(f"/messages/{message}")
    assert response.status_code == 200, response.json
    return dict(response.json)


def test_a_message_has_its_text(service: Service) -> None:
    sent = service.send(message="Hi " + "x" * 200, category="authentication").json["message_id"]
    message = shown(service, sent)
    assert (message["text"], message["encoding"]) == ("Hi " + "x" * 200, "gsm7")
    assert (message["category"], message["segments"]) == ("authentication", 2)
    assert "".join(message["parts"]) == message["text"]
    assert len(message["parts"]) == 2


def test_an_error_is_explained(service: Service) -> None:
    sent = service.send(phone=UNDELIVERED).json["message_id"]
    service.deliver_receipts()
    assert shown(service, sent)["error"] == {
        "code": "absent_subscriber",
        "permanent": False,
        "carrier": "simulator",
        "carrier_code": "absent_subscriber",
        "text": "The phone was off or without coverage until the carrier gave up.",
    }
    entry = service.get("/errors/absent_subscriber").json
    assert (entry["kind"], entry["permanent"], entry["status"]) == ("message", False, None)
    assert entry["meaning"] and entry["remediation"]


def test_each_kind_of_errors_is_listed(service: Service) -> None:
    of_messages = service.get("/errors?kind=message").json["data"]
    assert {entry["kind"] for entry in of_messages} == {"message"}
    assert "expired" in {entry["code"] for entry in of_messages}
    of_requests = service.get("/errors").json["data"]
    assert {entry["kind"] for entry in of_requests} == {"request"}
    assert service.get("/errors?kind=other").status_code == 400


def test_filters_find_what_they_name(service: Service) -> None:
    group = service.new_group([NAIROBI])
    service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    service.sweep()
    service.bulk([UNDELIVERED, REFUSED, BERLIN], reference="r 1")
    service.deliver_receipts()
    service.bulk([{"phone": NAIROBI, "reference": "r 2"}], category="marketing", reference="r 2")
    assert phones(service, "category=marketing") == [NAIROBI]
    assert phones(service, "category=marketing&reference=r%202") == [NAIROBI]
    assert phones(service, "category=transactional&reference=r%202") == []
    assert sorted(phones(service, "error=invalid_recipient")) == [REFUSED]
    assert sorted(phones(service, "permanent=true")) == [REFUSED]
    assert sorted(phones(service, "permanent=false")) == [UNDELIVERED]
    assert sorted(phones(service, "country=DE")) == [BERLIN]
    assert phones(service, f"group_id={group}") == [NAIROBI]
    assert sorted(phones(service, "reference=r%201")) == sorted([UNDELIVERED, REFUSED, BERLIN])
    assert phones(service, "reference=r%201&country=KE") == []
    assert sorted(phones(service, "carrier=simulator")) == sorted([NAIROBI, NAIROBI, UNDELIVERED, REFUSED, BERLIN])
    assert phones(service, "carrier=other") == []
    assert phones(service, f"phone={BERLIN}") == [BERLIN]
    assert phones(service, "status=failed") == [REFUSED]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("error=nonsense", "/error"),
        ("permanent=perhaps", "/permanent"),
        ("country=ke", "/country"),
        ("group_id=1", "/group_id"),
        ("category=bulk", "/category"),
        ("reference=", "/reference"),
        ("cursor=YmVsb3c6eA", "/cursor"),
    ],
)
def test_a_wrong_filter_is_reported(service: Service, query: str, pointer: str) -> None:
    response = service.get(f"/messages?{query}")
    assert (response.status_code, response.json["errors"][0]["pointer"]) == (400, pointer)


@pytest.mark.parametrize("bound", ["MAX_SENDS", "MAX_BATCHES", "MAX_MESSAGES"])
@pytest.mark.parametrize("query", ["", f"phone={NAIROBI}&", "reference=rare&", "error=invalid_recipient&"])
def test_a_search_that_finds_little_is_bounded_and_misses_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch, bound: str, query: str
) -> None:
    for number in range(5):
        service.bulk([REFUSED, NAIROBI] if number in (1, 4) else [BERLIN, "254711000009"], reference="rare")
        service.send(BERLIN)
    found = [message["message_id"] for message in listed(service, query)]
    assert len(found) == {"": 15, f"phone={NAIROBI}&": 2, "reference=rare&": 10}.get(query, 2)
    monkeypatch.setattr(message_search, bound, 2)
    for limit in (1, 3):
        pages, cursor = [], ""
        while True:
            page = service.get(f"/messages?{query}limit={limit}{cursor}").json
            pages.append([message["message_id"] for message in page["data"]])
            if page["next_cursor"] is None:
                break
            cursor = f"&cursor={page['next_cursor']}"
        assert [message for each in pages for message in each] == found
        assert len(pages) >= (5 if "phone" in query and bound != "MAX_MESSAGES" else 2), "ten sends, two at a time"


def test_a_cursor_does_not_reveal_whether_another_accounts_message_exists(service: Service) -> None:
    service.send()
    other = Service(service.engine)
    theirs = other.send().json["message_id"]
    unknown = theirs[:20] + theirs[20:].translate(str.maketrans("0123456789", "1234567890"))

    def found(message: str) -> Any:
        cursor = base64.urlsafe_b64encode(message.encode()).decode().rstrip("=")
        return service.get(f"/messages?cursor={cursor}").json["data"]

    assert found(theirs) == found(unknown)


def test_a_search_shows_texts_if_they_are_asked_for(service: Service) -> None:
    named = [{"phone": NAIROBI, "variables": {"name": "Ann"}}, {"phone": BERLIN, "variables": {"name": "Ben"}}]
    service.bulk(named, "Hi {{name}}")
    service.send(NAIROBI, "Your table is ready")
    gone = service.send(NAIROBI, "To be erased").json["message_id"]
    erase = text("UPDATE batch SET recipients = :erased WHERE send_id = (SELECT send_id FROM batch WHERE id < :id")
    erase = text(f"{erase.text} ORDER BY id DESC LIMIT 1)")
    service.execute(erase, erased=ERASED_PHONE, id=gone)
    assert [each["text"] for each in listed(service, f"phone={NAIROBI}&texts=true")] == [
        "Your table is ready",
        "Hi Ann",
    ]
    assert [each["text"] for each in listed(service, "texts=true&limit=2")] == [
        None,
        "Your table is ready",
        "Hi Ann",
        "Hi Ben",
    ]
    assert all("text" not in each for each in listed(service, "texts=false"))
    refused = service.get("/messages?texts=true&limit=101")
    assert (refused.status_code, refused.json["errors"][0]["pointer"]) == (400, "/limit")
    assert service.get("/messages?texts=yes").status_code == 400


def test_a_search_by_phone_reads_no_send_past_its_bound(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_search, "MAX_BATCHES", 3)
    for _ in range(30):
        service.send(NAIROBI)
    with statements(service.api_engine) as executed:
        assert service.get(f"/messages?phone={BERLIN}").json["data"] == []
    [(search, values)] = [each for each in executed if "LATERAL" in each[0]]
    assert rows_read(service.engine, search, values)["send"] < 10
