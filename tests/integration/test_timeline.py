"""What is told of a message while it waits, when it ends without having left, and when clocks differ."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from tests.integration.service import Service

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
    begun = "UPDATE batch SET state = 'sending', lease_until = now() + interval '1 hour', intent = 4, watermark = 3"
    change(service, f"{begun} WHERE send_id = :id", id=send)
    assert service.counts(send) == {"submitted": 5, "accepted": 5, "sending": 3, "queued": 2}
    listed = service.get(f"/sends/{send}/messages").json["data"]
    assert [entry["status"] for entry in listed] == ["sending"] * 3 + ["queued"] * 2
    change(
        service,
        "UPDATE batch SET next_index = 6, retry = '{5,2,4}', intent = 2 , watermark = 2 WHERE send_id = :id",
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
    told = events(service, sent["message_id"])
    assert [event["type"] for event in told] == ["accepted", "canceled"], "it was never due"
    assert told[1]["at"] == shown["finished_at"]
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


def test_charged_is_what_a_carrier_took(service: Service) -> None:
    send = service.bulk(["254711000001", "99902000001", "254711000002"]).json["send_id"]
    shown = service.get(f"/sends/{send}").json
    assert (shown["cost"], shown["charged"]) == (3, 2)
    later = service.bulk(["254711000001"], send_at=ahead()).json["send_id"]
    service.post(f"/sends/{later}/cancel")
    shown = service.get(f"/sends/{later}").json
    assert (shown["cost"], shown["charged"]) == (1, 0)


def test_times_never_go_back_where_clocks_differ(service: Service) -> None:
    sent = service.send().json["message_id"]
    service.deliver_receipts()
    change(
        service,
        "UPDATE message SET submitted_at = submitted_at - interval '1 h', finished_at = finished_at - interval '2 h'"
        " WHERE id = :id",
        id=sent,
    )
    shown = message(service, sent)
    assert shown["created_at"] == shown["submitted_at"] == shown["finished_at"]
    times = [event["at"] for event in events(service, sent)]
    assert len(times) == 3
    assert times == sorted(times)


def test_a_doubt_that_the_operator_ended_is_told_in_two_steps(service: Service) -> None:
    sent = service.send("99906000009").json["message_id"]
    assert steps(service, sent) == ["accepted", "in_doubt"]
    change(
        service,
        "UPDATE message SET status = 'failed', error = 'not_sent', finished_at = submitted_at + interval '1 min'"
        " WHERE id = :id",
        id=sent,
    )
    told = events(service, sent)
    assert [event["type"] for event in told] == ["accepted", "in_doubt", "failed"]
    assert [event.get("error") for event in told][:2] == [None, None]
    assert told[2]["error"]["code"] == "not_sent"


def test_a_refusal_is_one_step(service: Service) -> None:
    sent = service.send("99902000009").json["message_id"]
    told = events(service, sent)
    assert [event["type"] for event in told] == ["accepted", "failed"]
    assert (told[1]["error"]["code"], told[1]["error"]["carrier_code"]) == ("invalid_recipient", "invalid_destination")


def test_the_filter_of_sends_is_status(service: Service) -> None:
    send = service.send(send_at=ahead()).json["send_id"]
    assert [entry["send_id"] for entry in service.get("/sends?status=scheduled").json["data"]] == [send]
    assert service.get("/sends?status=completed").json["data"] == []
    problem = service.get("/sends?state=scheduled").json
    assert "`status`" in problem["errors"][0]["detail"]
    assert service.post(f"/sends/{send}/resume").json["send_status"] == "scheduled"
