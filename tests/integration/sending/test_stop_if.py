"""`stop_if`: too many failures hold a send, whether a carrier refused them or reported them later."""

from typing import Any

import pytest
from sqlalchemy import text

from shared.audit.check import audit
from tests.harness.service import Service

LATE = text("UPDATE send SET paced_until = clock_timestamp() - interval '1 second' WHERE id = :id")
"""The send has waited for its own rate."""
UNDELIVERED, REFUSED = 99901_000_0000, 99902_000_0000


def phones(first: int, count: int) -> list[str]:
    return [str(first + number) for number in range(count)]


def test_refused_messages_stop_the_rest(service: Service) -> None:
    service = Service(service.engine, credits=5000)
    rule = {"failed_share": 0.2, "min_messages": 50}
    send = service.bulk(phones(REFUSED, 3000), stop_if=rule).json["send_id"]
    shown = service.get(f"/sends/{send}").json
    assert (shown["status"], shown["held_by"], shown["stop_if"]) == ("held", "stop_if", rule)
    assert shown["held_reason"].endswith("messages failed; `stop_if` allows a share of 0.2.")
    assert 50 <= shown["counts"]["failed"] <= 100
    assert audit(service.engine, full=True) == []
    assert service.post(f"/sends/{send}/cancel").json["status"] == "canceled"
    assert service.get("/balance").json["balance"] == 5000


def test_undelivered_messages_stop_a_send_later(service: Service) -> None:
    service = Service(service.engine, credits=5000)
    rule = {"failed_share": 0.5, "min_messages": 20}
    send = service.bulk(phones(UNDELIVERED, 2000), rate=20, stop_if=rule).json["send_id"]
    while (sent := service.counts(send)["sent"]) < 20:
        service.execute(LATE, id=send)
        service.sweep()
    assert sent < 2000
    service.deliver_receipts()
    service.sweep()
    shown = service.get(f"/sends/{send}").json
    assert (shown["status"], shown["held_by"], shown["counts"]["undelivered"]) == ("held", "stop_if", sent)
    assert shown["held_reason"] == f"{sent} of {sent} messages failed; `stop_if` allows a share of 0.5."
    assert audit(service.engine, full=True) == []


def test_a_send_that_its_owner_resumes_is_not_stopped_again(service: Service) -> None:
    send = service.bulk(phones(REFUSED, 200), stop_if={"failed_share": 0.5, "min_messages": 10}).json["send_id"]
    assert service.get(f"/sends/{send}").json["held_by"] == "stop_if"
    response = service.post(f"/sends/{send}/resume").json
    assert (response["status"], response["stop_if"], response["held_by"], response["held_reason"]) == (
        "queued",
        None,
        None,
        None,
    )
    service.sweep()
    assert service.counts(send)["failed"] == 200
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        ({}, "/stop_if/failed_share"),
        ({"failed_share": 0}, "/stop_if/failed_share"),
        ({"failed_share": 1.5}, "/stop_if/failed_share"),
        ({"failed_share": "0.2"}, "/stop_if/failed_share"),
        ({"failed_share": True}, "/stop_if/failed_share"),
        ({"failed_share": 0.2, "min_messages": 0}, "/stop_if/min_messages"),
        ({"failed_share": 0.2, "after": 10}, "/stop_if/after"),
        (0.2, "/stop_if"),
        (None, "/stop_if"),
    ],
)
def test_wrong_rules(service: Service, rule: Any, pointer: str) -> None:
    response = service.bulk(phones(254766000000, 2), stop_if=rule)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    assert response.json["errors"][0]["pointer"] == pointer
    assert service.send(stop_if={"failed_share": 0.2}).json["errors"][0]["code"] == "unknown_field"
