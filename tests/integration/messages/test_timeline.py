"""The timeline of a message while it waits, when it ends without having left, and when clocks differ."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from shared.carriers.receipts import Receipt
from shared.doubts.resolution import Resolution, resolve
from shared.lifecycle import MessageStatus
from tests.harness.service import Service
from worker.carriers.base import LateResponse, Outcome, ResponseKind
from worker.receipts import match as receipts
from worker.receipts.late_responses import record_late_responses
from worker.recovery.recover import recover

TOMORROW = timedelta(days=1)


def ahead(by: timedelta = TOMORROW) -> str:
    return (datetime.now(UTC) + by).isoformat()


def change(service: Service, statement: str, **values: Any) -> None:
    with service.engine.begin() as connection:
        assert connection.execute(text(statement), values).rowcount == 1


def message(service: Service, message_id: str) -> Any:
    return service.get(f"/messages/{message_id}").json


def events(service: Service, message_id: str) -> list[Any]:
    return list(service.get(f"/messages/{message_id}/events").json["data"])


def steps(service: Service, message_id: str) -> list[str]:
    return [event["type"] for event in events(service, message_id)]


def test_it_works(service: Service) -> None:
    sent = service.send().json["message_id"]
    service.deliver_receipts()
    assert steps(service, sent) == ["accepted", "sent", "delivered"]
    shown = message(service, sent)
    assert shown["created_at"] <= shown["submitted_at"] <= shown["finished_at"]
    assert shown["test"] is False


@pytest.mark.parametrize("how", ["paused", "held"])
def test_a_scheduled_message_stays_scheduled_when_its_send_is_stopped(service: Service, how: str) -> None:
    sent = service.send(send_at=ahead()).json
    if how == "paused":
        service.post(f"/sends/{sent['send_id']}/pause")
    else:
        change(service, "UPDATE batch SET state = 'held' WHERE send_id = :id", id=sent["send_id"])
        change(service, "UPDATE send SET state = 'held' WHERE id = :id", id=sent["send_id"])
    assert message(service, sent["message_id"])["status"] == "scheduled"
    assert service.counts(sent["send_id"]) == {"submitted": 1, "accepted": 1, "scheduled": 1}
    assert steps(service, sent["message_id"]) == ["accepted"]
    change(service, "UPDATE send SET send_at = now() - interval '1 s' WHERE id = :id", id=sent["send_id"])
    assert message(service, sent["message_id"])["status"] == "queued"
    assert service.counts(sent["send_id"]) == {"submitted": 1, "accepted": 1, "queued": 1}


def test_what_is_being_submitted_is_counted_as_sending(service: Service) -> None:
    phones = [str(254711000000 + number) for number in range(5)]
    send = service.bulk(phones, send_at=ahead()).json["send_id"]
    change(service, "UPDATE send SET state = 'sending', send_at = now() WHERE id = :id", id=send)
    begun = (
        "UPDATE batch SET state = 'sending', lease_until = now() + interval '100 seconds', intent = 4, watermark = 3"
    )
    change(service, f"{begun} WHERE send_id = :id", id=send)
    assert service.counts(send) == {"submitted": 5, "accepted": 5, "sending": 3, "queued": 2}
    listed = service.get(f"/sends/{send}/messages").json["data"]
    assert [entry["status"] for entry in listed] == ["sending"] * 3 + ["queued"] * 2
    change(
        service,
        "UPDATE batch SET next_index = 6, retry_indexes = '{5,2,4}', intent = 2 , watermark = 2 WHERE send_id = :id",
        id=send,
    )
    listed = service.get(f"/sends/{send}/messages").json["data"]
    assert [entry["phone"] for entry in listed if entry["status"] == "sending"] == [phones[1], phones[4]]
    assert service.counts(send)["sending"] == 2
    change(service, "UPDATE batch SET state = 'waiting', intent = 0, watermark = 0 WHERE send_id = :id", id=send)
    service.post(f"/sends/{send}/cancel")


def test_a_canceled_message_ends_when_it_was_canceled(service: Service) -> None:
    sent = service.send(send_at=ahead()).json
    before = datetime.now(UTC) - timedelta(seconds=1)
    service.post(f"/sends/{sent['send_id']}/cancel")
    shown = message(service, sent["message_id"])
    assert before < datetime.fromisoformat(shown["finished_at"]) < datetime.now(UTC) + timedelta(seconds=1)
    assert shown["submitted_at"] is None
    steps = events(service, sent["message_id"])
    assert [event["type"] for event in steps] == ["accepted", "canceled"], "it was never due"
    assert steps[1]["at"] == shown["finished_at"]
    assert (
        shown["finished_at"][:-1]
        in service.get(f"/sends/{sent['send_id']}/messages", headers={"Accept": "text/csv"}).text
    )


def test_an_expired_message_was_due_and_ended(service: Service) -> None:
    sent = service.send(send_at=ahead(), expires_at=ahead(2 * TOMORROW)).json
    change(
        service,
        "UPDATE send SET created_at = created_at - interval '1 h', send_at = now() - interval '1 min',"
        " expires_at = now() - interval '1 s' WHERE id = :id",
        id=sent["send_id"],
    )
    service.sweep()
    shown = message(service, sent["message_id"])
    assert (shown["status"], shown["cost"]) == ("expired", 0)
    assert steps(service, sent["message_id"]) == ["accepted", "due", "expired"]
    assert events(service, sent["message_id"])[2]["at"] == shown["finished_at"] is not None


def test_a_doubt_that_the_operator_resolved_has_two_steps(service: Service) -> None:
    sent = service.send("99906000009").json["message_id"]
    assert steps(service, sent) == ["accepted", "in_doubt"]
    lasting = message(service, sent)
    assert (lasting["doubt"]["reason"], lasting["doubt"]["resolved_at"]) == ("no_response", None)
    assert [attempt["answer"] for attempt in lasting["attempts"]] == ["in_doubt"]
    assert (
        service.transact(resolve, [Resolution(UUID(sent), MessageStatus.FAILED, error="not_sent", by="operator")]) == 1
    )
    shown_events = events(service, sent)
    assert [event["type"] for event in shown_events] == ["accepted", "in_doubt", "failed"]
    assert [event["error"]["code"] for event in shown_events[1:]] == ["no_response", "not_sent"]
    assert shown_events[2]["resolved_by"] == "operator"
    doubt = message(service, sent)["doubt"]
    assert (doubt["resolved_by"], doubt["since"]) == ("operator", lasting["doubt"]["since"])
    assert lasting["doubt"]["since"] <= doubt["resolved_at"]
    (attempt,) = message(service, sent)["attempts"]
    assert (attempt["answer"], attempt["answered_at"], attempt["latency_ms"]) == ("in_doubt", None, None)


def test_a_doubt_that_a_receipt_ended(service: Service) -> None:
    sent = service.send("99905000009").json["message_id"]
    service.deliver_receipts()
    service.sweep()
    doubt = message(service, sent)["doubt"]
    assert doubt["resolved_by"] == "receipt"
    assert doubt["evidence"] == events(service, sent)[1]["carrier_reference"]
    assert steps(service, sent) == ["accepted", "in_doubt", "delivered"]
    delivered = events(service, sent)[2]
    assert (delivered["resolved_by"], delivered["carrier_at_precision"]) == ("receipt", "millisecond")


def test_a_late_response_ends_a_doubt_and_becomes_the_response_of_the_attempt(service: Service) -> None:
    sent = service.send("99906000010").json["message_id"]
    record_late_responses(service.engine, [LateResponse(UUID(sent), Outcome(ResponseKind.ACCEPTED, "late-1"))])
    (attempt,) = message(service, sent)["attempts"]
    doubt = message(service, sent)["doubt"]
    assert (attempt["answer"], attempt["answered_at"]) == ("accepted", doubt["resolved_at"])
    assert attempt["latency_ms"] >= 0
    assert (doubt["resolved_by"], doubt["evidence"]) == ("answer", "late-1")
    receipts.record(service.engine, "simulator", [receipt("late-1", "99906000010")])
    assert steps(service, sent) == ["accepted", "in_doubt", "sent", "delivered"]


def test_a_doubt_after_a_crash_has_that_reason(service: Service) -> None:
    sent = service.send(send_at=ahead()).json
    change(service, "UPDATE send SET state = 'sending', send_at = now() WHERE id = :id", id=sent["send_id"])
    change(
        service,
        "UPDATE batch SET state = 'sending', lease_until = now() - interval '1 s', intent = 1, watermark = 1,"
        " epoch = epoch + 1 WHERE send_id = :id",
        id=sent["send_id"],
    )
    recover(service.engine, lambda test: "simulator")
    shown = message(service, sent["message_id"])
    assert (shown["status"], shown["doubt"]["reason"]) == ("in_doubt", "worker_stopped")
    assert shown["error"]["code"] == "worker_stopped"


def test_every_attempt_is_shown(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.sending.dispatch.CYCLE_SECONDS", 3600.0)  # all of them are made in one cycle
    sent = service.send("99910000009").json["message_id"]
    attempts = message(service, sent)["attempts"]
    assert [attempt["answer"] for attempt in attempts] == ["failed"] * 3
    assert {(attempt["carrier"], attempt["carrier_code"]) for attempt in attempts} == {("simulator", "system_error")}
    times = [each[name] for each in attempts for name in ("submitted_at", "answered_at")]
    assert times == sorted(times)
    steps = events(service, sent)
    assert [event["type"] for event in steps] == ["accepted", "attempt_failed", "attempt_failed", "failed"]
    assert {event["error"]["code"] for event in steps[1:]} == {"carrier_unavailable"}


def receipt(reference: str, phone: str, precision: int | None = 60) -> Receipt:
    """A receipt as SMPP's text tells it: to the minute, which is over as a rule."""
    minute = datetime.now(UTC).replace(second=0, microsecond=0)
    return Receipt(reference, MessageStatus.DELIVERED, None, minute, phone, precision=precision)


@pytest.mark.parametrize(
    ("precision", "shown_precision"), [(60, "minute"), (1, "second"), (0, "millisecond"), (None, None)]
)
@pytest.mark.parametrize("early", [False, True])
def test_both_times_of_a_delivery_are_kept(
    service: Service, precision: int | None, shown_precision: str | None, early: bool
) -> None:
    phone = "99909000009"
    sent = service.send(phone).json["message_id"]
    reference = events(service, sent)[1]["carrier_reference"]
    change(
        service, "UPDATE message SET submitted_at = submitted_at - interval '20 s', reference = :no WHERE id = :id",
        id=sent, no="unknown" if early else reference,
    )  # fmt: skip
    change(service, "UPDATE send SET created_at = created_at - interval '1 h' WHERE id ="
           " (SELECT send_id FROM batch WHERE id = batch_of(CAST(:id AS uuid)))", id=sent)  # fmt: skip
    word = receipt(reference, phone, precision)
    receipts.record(service.engine, "simulator", [word])
    if early:
        change(service, "UPDATE message SET reference = :reference WHERE id = :id", id=sent, reference=reference)
        assert receipts.match_unmatched(service.engine, 60) >= 1
    shown, delivered = message(service, sent), events(service, sent)[-1]
    assert delivered["type"] == "delivered"
    apart = datetime.fromisoformat(shown["finished_at"]) - datetime.fromisoformat(shown["submitted_at"])
    assert apart >= timedelta(seconds=20)
    assert delivered["at"] == shown["finished_at"]
    assert delivered["carrier_at_precision"] == shown_precision
    by_carrier = delivered["carrier_at"] and datetime.fromisoformat(delivered["carrier_at"])
    assert by_carrier == (word.done_at if shown_precision else None)
