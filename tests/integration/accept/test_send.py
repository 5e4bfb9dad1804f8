"""Sending to one phone."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.own_database import own_database

HOUR = timedelta(hours=1)
EARLIER = (
    "UPDATE send SET send_at = send_at - :by, expires_at = expires_at - :by",
    "UPDATE batch SET due_at = due_at - :by",
    "UPDATE doubt SET expires_at = expires_at - :by",
)


engine = own_database


def test_the_response_has_the_documented_fields(service: Service) -> None:
    response = service.send(reference="order-7", category="authentication").json
    assert list(response) == [
        "send_id",
        "message_id",
        "status",
        "sender_id",
        "phone",
        "segments",
        "cost",
        "balance",
        "category",
        "reference",
        "send_at",
        "expires_at",
        "test",
        "created_at",
    ]
    assert response["segments"] == {"count": 1, "encoding": "gsm7", "characters": 2}
    assert response["reference"] == "order-7"
    assert response["expires_at"].endswith("Z")


def test_the_timeline_shows_every_step(service: Service) -> None:
    message = service.send().json["message_id"]
    service.deliver_receipts()
    events = service.get(f"/messages/{message}/events").json["data"]
    assert [event["type"] for event in events] == ["accepted", "sent", "delivered"]
    assert events[1]["carrier"] == "simulator"
    assert events[1]["carrier_reference"]


def test_a_long_message_costs_its_segments(service: Service) -> None:
    assert service.send(message="a" * 161).json["cost"] == 2
    assert service.send(message="😀" * 36).json["cost"] == 2


def test_low_balance_changes_nothing(service: Service) -> None:
    before = service.get("/balance").json
    response = service.bulk([str(254711000000 + i) for i in range(1001)])
    assert response.status_code == 402
    assert (response.json["code"], response.json["required"], response.json["balance"]) == ("low_balance", 1001, 1000)
    assert service.get("/balance").json["balance"] == before["balance"]
    assert service.get("/sends").json["data"] == []


def test_exactly_the_balance_is_enough(service: Service) -> None:
    response = service.bulk([str(254711000000 + i) for i in range(1000)])
    assert response.status_code == 200
    assert response.json["balance"] == 0
    assert service.send().status_code == 402


def let_pass(service: Service, by: timedelta) -> None:
    """Let so much time pass for all sends."""
    with service.engine.begin() as connection:
        for change in EARLIER:
            connection.execute(text(change), {"by": by})


def test_a_scheduled_send_waits_until_it_is_due(service: Service) -> None:
    response = service.send(phone="254722000001", send_at=ahead(HOUR)).json
    assert response["status"] == "scheduled"
    service.sweep()
    assert service.get(f"/messages/{response['message_id']}").json["status"] == "scheduled"
    let_pass(service, HOUR)
    service.sweep()
    assert service.get(f"/messages/{response['message_id']}").json["status"] == "sent"


def test_a_send_that_is_not_submitted_in_time_expires_and_is_not_charged(service: Service) -> None:
    response = service.send(send_at=ahead(HOUR), expires_at=ahead(2 * HOUR)).json
    assert service.get("/balance").json["reserved"] == 1
    let_pass(service, 2 * HOUR)
    service.sweep()
    assert service.get(f"/messages/{response['message_id']}").json["status"] == "expired"
    assert service.get(f"/sends/{response['send_id']}").json["status"] == "completed"
    balance = service.get("/balance").json
    assert (balance["balance"], balance["reserved"]) == (1000, 0)


@pytest.mark.parametrize(
    ("phone", "statuses", "cost"),
    [
        ("999010001", ["sent", "undelivered"], 1),
        ("999020001", ["failed", "failed"], 0),
        ("999030001", ["sent", "delivered"], 1),
        ("999040001", ["sent", "delivered"], 1),
        ("999050001", ["in_doubt", "delivered"], 1),
        ("999060001", ["in_doubt", "in_doubt"], 1),
        ("999070001", ["sent", "delivered"], 1),
        ("999080001", ["sent", "delivered"], 1),
        ("999090001", ["sent", "sent"], 1),
        ("999100001", ["failed", "failed"], 0),
    ],
)
def test_magic_phones(service: Service, phone: str, statuses: list[str], cost: int) -> None:
    message = service.send(phone=phone).json["message_id"]
    path = f"/messages/{message}"
    seen = [service.get(path).json["status"]]
    service.deliver_receipts()
    service.sweep()  # which looks whose doubt a receipt resolves
    seen.append(service.get(path).json["status"])
    assert seen == statuses
    assert service.get(path).json["cost"] == cost
    balance = service.get("/balance").json
    assert balance["balance"] + balance["reserved"] == 1000 - cost + balance["reserved"]
    assert balance["reserved"] == (1 if seen[-1] == "in_doubt" else 0)


def test_a_doubt_that_expires_is_not_charged(engine: object) -> None:
    service = Service(engine, doubt_grace=0.0)  # type: ignore[arg-type]
    response = service.send(phone="999061111", expires_at=ahead(HOUR)).json
    service.sweep()
    assert service.get("/balance").json["reserved"] == 1
    let_pass(service, HOUR)
    service.sweep()
    assert service.get(f"/messages/{response['message_id']}").json["status"] == "expired"
    assert service.get("/balance").json["balance"] == 1000
