"""`canary`: the first part goes, the rest waits for its receipts."""

from typing import Any

import pytest

import shared.job_failures
from shared.audit.check import audit
from shared.outbox import listen
from tests.harness.deliveries import wait_for_others
from tests.harness.service import Service
from worker.sending.canary import check_canaries_and_stop_if

UNDELIVERED, SILENT, UNANSWERED = 99901_000_0000, 99909_000_0000, 99906_000_0000


def phones(count: int, first: int = 254777000000) -> list[str]:
    return [str(first + number) for number in range(count)]


def shown(service: Service, send: str) -> dict[str, Any]:
    return dict(service.get(f"/sends/{send}").json)


@pytest.mark.parametrize(
    ("canary", "first"), [(10, 10), ("1%", 3), ("0.5%", 2), ("50%", 150), ("7%", 21), ("7.001%", 22)]
)
def test_it_works(service: Service, canary: int | str, first: int) -> None:
    send = service.bulk(phones(300), canary=canary).json["send_id"]
    service.sweep()
    held = shown(service, send)
    assert (held["status"], held["held_by"], held["canary"]) == ("held", "canary", first)
    assert (held["counts"]["sent"], held["counts"]["queued"]) == (first, 300 - first)
    assert held["held_reason"].startswith(f"The first {first} messages are sent")
    service.sweep()
    assert service.counts(send)["sent"] == first
    service.deliver_receipts()
    service.sweep()
    assert shown(service, send)["status"] == "completed"
    assert service.counts(send)["sent"] == 300 - first
    assert shown(service, send)["canary"] is None
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize("end", ["canceled", "completed"])
def test_a_send_that_ends_while_it_is_held_is_held_no_longer(service: Service, end: str) -> None:
    listen(service.engine, service.account_id)
    send = service.bulk([*phones(5, SILENT), *phones(20)], canary=5).json["send_id"]
    service.sweep()
    assert shown(service, send)["held_by"] == "canary"
    if end == "canceled":
        service.post(f"/sends/{send}/cancel")
    service.execute("UPDATE send SET expires_at = now() WHERE id = :send", send=send)
    service.sweep()
    ended = shown(service, send)
    assert (ended["status"], ended["held_by"], ended["held_reason"]) == (end, None, None)
    [listed] = service.get("/sends").json["data"]
    assert (listed["held_by"], listed["held_reason"]) == (None, None)
    wait_for_others(service)
    events = service.get(f"/events?types=send.held,send.{end}").json["data"]
    assert [(each["type"], bool(each["data"]["held_reason"])) for each in events] == [
        ("send.held", True),
        (f"send.{end}", False),
    ]


def test_a_failed_canary_holds_the_rest_until_its_owner_resumes_it(service: Service) -> None:
    send = service.bulk([*phones(10, UNDELIVERED), *phones(20)], canary=10).json["send_id"]
    service.sweep()
    service.deliver_receipts()
    service.sweep()
    held = shown(service, send)
    assert (held["status"], held["held_by"]) == ("held", "canary")
    assert held["held_reason"] == "10 of the first 10 messages failed. `resume` sends the rest all the same."
    assert service.post(f"/sends/{send}/resume").json["status"] == "queued"
    service.sweep()
    assert service.counts(send) == {"submitted": 30, "accepted": 30, "undelivered": 10, "sent": 20}
    assert audit(service.engine, full=True) == []


def test_a_send_that_is_paused_while_its_canary_holds_it_waits_for_its_owner(service: Service) -> None:
    send = service.bulk(phones(30), canary=10).json["send_id"]
    service.sweep()
    assert service.post(f"/sends/{send}/pause").json["status"] == "paused"
    service.deliver_receipts()
    service.sweep()
    assert service.counts(send)["queued"] == 20
    assert service.post(f"/sends/{send}/resume").json["status"] == "queued"
    service.sweep()
    service.sweep()
    assert "queued" not in service.counts(send)
    assert audit(service.engine, full=True) == []


def test_a_canary_in_doubt_holds_the_rest_with_that_reason(service: Service) -> None:
    send = service.bulk([*phones(3, UNANSWERED), *phones(20)], canary=10).json["send_id"]
    service.sweep()
    service.deliver_receipts()
    service.sweep()
    held = shown(service, send)
    message = (
        "0 of the first 10 messages failed, and whether 3 were sent is in doubt. `resume` sends the rest all the same."
    )
    assert (held["held_by"], held["held_reason"]) == ("canary", message)
    assert service.post(f"/sends/{send}/resume").json["status"] == "queued"


def test_sends_that_wait_for_receipts_do_not_delay_the_judging_of_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When judging takes long, so that there is one in each round."""
    before = [service.bulk([*phones(5, SILENT), *phones(20)], canary=5).json["send_id"] for _ in range(2)]
    send = service.bulk(phones(30), canary=5).json["send_id"]
    after = [service.bulk([*phones(5, SILENT), *phones(20)], canary=5).json["send_id"] for _ in range(2)]
    service.sweep()
    service.deliver_receipts()
    assert {shown(service, each)["held_by"] for each in [*before, send, *after]} == {"canary"}
    monkeypatch.setattr(shared.job_failures, "ROUND_SECONDS", 0.0)
    check_canaries_and_stop_if(service.engine)
    assert shown(service, send)["held_by"] is None
    assert {shown(service, each)["held_by"] for each in [*before, *after]} == {"canary"}


@pytest.mark.parametrize(("failing", "status"), [(7, "completed"), (8, "held")])
def test_as_many_as_stop_if_allows_may_fail_exactly(service: Service, failing: int, status: str) -> None:
    numbers = [*phones(failing, UNDELIVERED), *phones(30)]
    send = service.bulk(numbers, canary=10, stop_if={"failed_share": 0.7, "min_messages": 1000}).json["send_id"]
    service.sweep()
    service.deliver_receipts()
    service.sweep()
    assert shown(service, send)["status"] == status


def test_a_canary_of_a_group_send(service: Service) -> None:
    service = Service(service.engine, credits=20_000)
    group = service.new_group(phones(12_000))
    send = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", canary="1%").json["send_id"]
    service.sweep()
    held = shown(service, send)
    assert (held["held_by"], held["counts"]["sent"]) == ("canary", 120)
    service.deliver_receipts()
    service.sweep()
    service.deliver_receipts()
    assert service.counts(send)["delivered"] == 12_000
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize("canary", [0, -1, True, 1.5, "1", "0%", "100%", "1 %", "x", None, [], {}, 10**9])
def test_an_invalid_canary_is_refused(service: Service, canary: Any) -> None:
    response = service.bulk(phones(5), canary=canary)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    assert response.json["errors"][0]["pointer"] == "/canary"
    assert service.send(canary=1).json["errors"][0]["code"] == "unknown_field"
