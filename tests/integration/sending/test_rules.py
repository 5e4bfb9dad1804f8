"""Quiet hours by the recipient's clock, and caps of messages to a phone."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from shared.accounts.category_rules import set_cap, set_quiet_hours
from shared.audit.check import audit
from shared.carriers.smpp.constants import UDH_INDICATOR
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.harness.smpp import smpp_house
from tests.harness.times import ahead
from worker.sending.checks import apply_rules
from worker.sending.claim import claim
from worker.sending.next_batches import ClaimRequest

NAIROBI, NEW_YORK = 254799000000, 12125550100


engine = own_database


def phones(first: int, count: int) -> list[str]:
    return [str(first + number) for number in range(count)]


def clock(moment: datetime) -> str:
    return f"{moment:%H:%M}"


def quiet_now(zone: str, hours: float = 2) -> dict[str, str]:
    """Quiet hours that began a while ago in the zone, and end in some hours."""
    now = datetime.now(ZoneInfo(zone))
    return {"from": clock(now - timedelta(hours=1)), "until": clock(now + timedelta(hours=hours))}


def let_time_pass(service: Service, send: str) -> None:
    """The send's quiet hours are over, and its batches are due."""
    with service.engine.begin() as connection:
        now = datetime.now(UTC)
        noon = (now.hour * 60 + now.minute + 720) % 1440  # a minute that is now in no zone of these phones
        values = {"send": send, "quiet": f"[{noon}, {(noon + 1) % 1440}]"}
        over = "UPDATE send SET rules = jsonb_set(rules, '{quiet}', CAST(:quiet AS jsonb)) WHERE id = :send"
        connection.execute(text(over), values)
        connection.execute(text("UPDATE batch SET due_at = now() WHERE send_id = :send AND state = 'waiting'"), values)
    service.sweep()


def test_only_recipients_in_quiet_hours_wait(service: Service) -> None:
    mixed = [phone for pair in zip(phones(NAIROBI, 5), phones(NEW_YORK, 5), strict=True) for phone in pair]
    response = service.bulk(mixed, category="marketing", quiet_hours=quiet_now("Africa/Nairobi", 4)).json
    send = response["send_id"]
    assert service.counts(send) == {"submitted": 10, "accepted": 10, "queued": 5, "sent": 5}
    assert set(service.submitted()) & set(mixed) == set(phones(NEW_YORK, 5))
    listed = {entry["message_id"]: entry["phone"] for entry in service.get(f"/sends/{send}/messages").json["data"]}
    assert {entry["message_id"]: entry["phone"] for entry in response["messages"]} == listed
    service.sweep()
    assert service.counts(send)["queued"] == 5
    assert service.get("/balance").json["reserved"] == 5
    due = service.row(
        "SELECT extract(epoch FROM due_at - now()) / 3600, attempts FROM batch WHERE send_id = :send"
        " AND state = 'waiting'",
        send=send,
    )
    assert 3.9 < due[0] <= 4.1 and due[1] == 0
    let_time_pass(service, send)
    assert service.counts(send)["sent"] == 10
    assert audit(service.engine, full=True) == []


def test_a_message_that_expires_in_quiet_hours_is_not_charged(service: Service) -> None:
    send = service.send(str(NAIROBI), quiet_hours=quiet_now("Africa/Nairobi")).json["send_id"]
    assert service.counts(send)["queued"] == 1
    service.execute("UPDATE send SET expires_at = now() WHERE id = :send", send=send)
    service.sweep()
    assert service.counts(send)["expired"] == 1
    assert service.get("/balance").json["balance"] == 1000
    assert audit(service.engine, full=True) == []


def test_the_account_has_rules_of_its_own_and_authentication_never_waits(service: Service) -> None:
    now = datetime.now(ZoneInfo("Africa/Nairobi"))
    minutes = [each.hour * 60 + each.minute for each in (now - timedelta(hours=1), now + timedelta(hours=2))]
    service.transact(set_quiet_hours, service.account_id, "marketing", (minutes[0], minutes[1]))
    quiet = service.send(str(NAIROBI), category="marketing").json["send_id"]
    assert service.get(f"/sends/{quiet}").json["quiet_hours"] is not None
    assert service.counts(quiet)["queued"] == 1
    other = {"quiet_hours": {"from": clock(now + timedelta(hours=3)), "until": clock(now + timedelta(hours=4))}}
    for category, more in (("authentication", {}), ("transactional", {}), ("marketing", other)):
        send = service.send(str(NAIROBI), category=category, **more).json["send_id"]
        assert service.counts(send)["sent"] == 1, category


@pytest.mark.parametrize(
    ("hours", "pointer"),
    [
        ({}, "/quiet_hours/from"),
        ({"from": "21:00"}, "/quiet_hours/until"),
        ({"from": "24:00", "until": "08:00"}, "/quiet_hours/from"),
        ({"from": "21:00", "until": 8}, "/quiet_hours/until"),
        ({"from": "08:00", "until": "08:00"}, "/quiet_hours"),
        ("21:00", "/quiet_hours"),
        (None, "/quiet_hours"),
    ],
)
def test_wrong_quiet_hours(service: Service, hours: Any, pointer: str) -> None:
    response = service.send(quiet_hours=hours)
    assert (response.status_code, response.json["errors"][0]["pointer"]) == (400, pointer)
    barred = service.send(quiet_hours={"from": "21:00", "until": "08:00"}, category="authentication")
    assert barred.json["errors"][0]["pointer"] == "/quiet_hours"


def capped(service: Service, most: int = 2) -> None:
    service.transact(set_cap, service.account_id, "marketing", (most, 24))


def test_a_phone_gets_no_more_than_the_cap(service: Service) -> None:
    capped(service)
    numbers = phones(NAIROBI + 100, 3)
    for _ in range(2):
        service.bulk(numbers[:2], category="marketing")
    send = service.bulk(numbers, category="marketing").json["send_id"]
    assert service.counts(send) == {"submitted": 3, "accepted": 3, "rejected": 2, "sent": 1}
    errors = [
        entry["error"] and entry["error"]["code"] for entry in service.get(f"/sends/{send}/messages").json["data"]
    ]
    assert sorted(errors, key=str) == [None, "frequency_capped", "frequency_capped"]
    assert service.get("/balance").json["balance"] == 1000 - 5
    assert service.get(f"/sends/{send}").json["cap"] == {"messages": 2, "hours": 24}
    assert service.counts(service.send(numbers[0]).json["send_id"])["sent"] == 1  # another category
    assert audit(service.engine, full=True) == []


def test_a_cap_cuts_no_long_message(service: Service) -> None:
    """Whose parts are claimed in whatever order."""
    capped(service, most=1)
    with smpp_house(service) as house:
        client, sends = house.bound(), {}
        for number, reference in itertools.product((2, 3, 1), (7, 8)):
            header = bytes((5, 0, 3, reference, 3, number))
            sent = client.submit(str(NAIROBI + 600), header + b"Hi", esm_class=UDH_INDICATOR, priority=1)
            sends[reference, number] = service.get(f"/messages/{sent.message_id}").json["status"]
    assert [sends[7, number] for number in (1, 2, 3)] == ["sent"] * 3
    assert [sends[8, number] for number in (1, 2, 3)] == ["rejected"] * 3
    assert audit(service.engine, full=True) == []


def test_failed_and_old_messages_do_not_count_for_the_cap(service: Service) -> None:
    capped(service, most=1)
    refused, old = "999020000300", str(NAIROBI + 300)
    for _ in range(2):
        assert service.counts(service.send(refused, category="marketing").json["send_id"])["failed"] == 1
    service.send(old, category="marketing")
    service.execute("UPDATE capped SET at = at - interval '25 hours'")
    assert service.counts(service.send(old, category="marketing").json["send_id"])["sent"] == 1
    assert service.counts(service.send(old, category="marketing").json["send_id"])["rejected"] == 1


def test_a_message_that_is_tried_again_keeps_its_place_under_the_cap(service: Service) -> None:
    """A cycle that died after it had counted its messages is done again, and several at once keep to the cap."""
    capped(service, most=1)
    tomorrow = ahead()
    sends = [
        service.bulk([str(NAIROBI + 400)], category="marketing", send_at=tomorrow).json["send_id"] for _ in range(4)
    ]
    for send in sends:
        service.execute("UPDATE send SET send_at = NULL, state = 'queued' WHERE id = :id", id=send)
        service.execute("UPDATE batch SET state = 'queued' WHERE send_id = :id", id=send)
    batches = claim(service.engine, ClaimRequest(budget=100, window_size=10, lease=15.0))
    assert len(batches) == 4
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda batch: apply_rules(service.engine, [batch]), batches))
    assert sum(batch.rejected for batch in batches) == 3
    (kept,) = [batch for batch in batches if not batch.rejected]
    apply_rules(service.engine, [kept])
    assert not kept.rejected
    service.execute("UPDATE capped SET at = at - interval '25 hours'")
    between = service.send(str(NAIROBI + 400), category="marketing").json["send_id"]
    assert service.counts(between)["sent"] == 1
    apply_rules(service.engine, [kept])
    assert kept.rejected


def test_messages_that_retention_has_deleted_count_if_they_were_tried(service: Service) -> None:
    capped(service, most=1)
    sent, unsent = phones(NAIROBI + 500, 2)
    canary = service.bulk([sent, unsent], category="marketing", canary=1).json["send_id"]
    service.post(f"/sends/{canary}/cancel")
    assert service.counts(canary) == {"submitted": 2, "accepted": 2, "sent": 1, "canceled": 1}
    count_second = """
        INSERT INTO capped (account_id, lane, phone, message_id)
        SELECT account_id, lane, :phone, CAST(overlay(CAST(message_id AS text) placing '0002' from 33) AS uuid)
          FROM capped
    """  # as the end of a cycle that came to no window leaves it
    service.execute(count_second, phone=int(unsent))
    service.execute("DELETE FROM message")
    assert service.counts(service.send(sent, category="marketing").json["send_id"])["rejected"] == 1
    assert service.counts(service.send(unsent, category="marketing").json["send_id"])["sent"] == 1
