"""One message is canceled: it is not sent, and its credits are given back once, whatever happens at the same moment."""

import random
import threading
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from shared.audit.check import audit
from shared.db.connection import transaction
from shared.lifecycle import MessageStatus
from shared.sends.cancel_message import cancel_one
from tests.harness.database import wait_until_somebody_waits
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.sends.test_control_races import DUE
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.next_batches import ClaimRequest
from worker.sending.settle_rest import settle_rest

BATCH = text("SELECT next_index, retry_indexes, postponed, attempts, state FROM batch WHERE send_id = :send")


engine = own_database


def a_list(service: Service, count: int, **more: Any) -> tuple[str, list[str], list[str]]:
    """A scheduled send; its phones and its messages."""
    first = random.randrange(254_700_000_000, 254_799_000_000)
    phones = [str(first + number) for number in range(count)]
    answer = service.bulk(phones, **{"send_at": ahead(), **more}).json
    return answer["send_id"], phones, [each["message_id"] for each in answer["messages"]]


def make_due(service: Service, send: str) -> None:
    for change in DUE:
        service.execute(change, send=send)


def cancel(service: Service, message: str, **headers: str) -> TestResponse:
    return service.post(f"/messages/{message}/cancel", headers=headers)


def sent() -> Result:
    return Result(MessageStatus.SENT, str(uuid4()), None, "2026-01-02 03:04:05+00:00", 1)


def make_everything_due(service: Service) -> None:
    service.execute("UPDATE batch SET due_at = clock_timestamp() WHERE state = 'waiting'")


def claim_some(service: Service, budget: int = 1000) -> list[ClaimedBatch]:
    return claim(service.engine, ClaimRequest(budget=budget, window_size=100, lease=60))


def test_it_works(service: Service) -> None:
    service.get("/events")
    send, phones, messages = a_list(service, 4)
    for _ in range(2):
        response = cancel(service, messages[1])
        assert (response.status_code, response.json["status"], response.json["cost"]) == (200, "canceled", 0)
        assert service.get("/balance").json["reserved"] == 3
    assert service.counts(send) == {"submitted": 4, "accepted": 4, "scheduled": 3, "canceled": 1}
    make_due(service, send)
    service.sweep()
    assert service.counts(send) == {"submitted": 4, "accepted": 4, "sent": 3, "canceled": 1}
    assert service.submitted().keys() & set(phones) == {*phones} - {phones[1]}
    assert service.get("/balance").json["balance"] == 997
    shown = service.get(f"/messages/{messages[1]}").json
    assert [each["type"] for each in shown["timeline"]] == ["accepted", "canceled"]
    events = service.get("/events?types=message.canceled").json["data"]
    assert [each["data"]["message_id"] for each in events] == [messages[1]]
    assert audit(service.engine, full=True) == []


def test_the_only_message_is_canceled_with_its_send(service: Service) -> None:
    sent = service.send(send_at=ahead()).json
    assert cancel(service, sent["message_id"]).json["status"] == "canceled"
    assert service.get(f"/sends/{sent['send_id']}").json["status"] == "canceled"
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 1000, "reserved": 0}


@pytest.mark.parametrize("stop", [None, "pause"])
def test_a_list_of_which_every_message_is_canceled_is_over(service: Service, stop: str | None) -> None:
    send, _, messages = a_list(service, 3)
    if stop:
        service.post(f"/sends/{send}/{stop}")
    for message in (messages[2], messages[0], messages[1]):
        assert cancel(service, message).status_code == 200
    assert service.get(f"/sends/{send}").json["status"] == "completed"
    assert service.get("/balance").json["balance"] == 1000
    assert audit(service.engine, full=True) == []


def test_what_was_sent_is_not_canceled(service: Service) -> None:
    message = service.send().json["message_id"]
    response = cancel(service, message)
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")
    assert response.json["message_status"] == "sent"
    assert cancel(service, str(uuid4())).json["code"] == "message_not_found"


def test_a_key_cancels_once(service: Service) -> None:
    _, _, messages = a_list(service, 2)
    first, again = (cancel(service, messages[0], **{"Idempotency-Key": "one"}) for _ in range(2))
    assert (first.json, again.headers["Idempotency-Replayed"]) == (again.json, "true")


def test_a_message_of_a_claimed_batch_is_not_canceled(service: Service) -> None:
    """Also if the claim commits while the request waits for the batch."""
    send, phones, messages = a_list(service, 3)
    make_due(service, send)
    answers: list[TestResponse] = []
    canceling = threading.Thread(target=lambda: answers.append(cancel(service, messages[2])))
    with pytest.MonkeyPatch.context() as patch:

        def wait(name: str) -> None:
            if name == "claim.before_commit":
                canceling.start()
                wait_until_somebody_waits(service.engine)

        patch.setattr("worker.sending.claim.crashpoint", wait)
        [batch] = claim_some(service, budget=2)
    canceling.join()
    assert (answers[0].status_code, answers[0].json["code"]) == (409, "message_being_sent")
    settle_rest(service.engine, [batch], "simulator", wait=0.0)
    assert cancel(service, messages[2]).status_code == 200
    service.sweep()
    assert service.submitted().keys() & set(phones) == set(phones[:2])
    assert audit(service.engine, full=True) == []


def test_a_claim_at_the_same_moment_does_not_take_what_is_being_canceled(service: Service) -> None:
    send, phones, messages = a_list(service, 3)
    make_due(service, send)
    with transaction(service.engine) as connection:
        cancel_one(connection, UUID(messages[0]))
        assert claim_some(service) == []
    [batch] = claim_some(service)
    assert batch.phones == phones[1:]
    settle_rest(service.engine, [batch], "simulator", wait=0.0)
    assert audit(service.engine, full=True) == []


def test_two_requests_at_once_give_back_once(service: Service) -> None:
    _, _, messages = a_list(service, 2)
    threads = [threading.Thread(target=cancel, args=(service, messages[0])) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert service.get("/balance").json["balance"] == 999
    assert audit(service.engine, full=True) == []


def test_a_new_text_is_paid_for_the_messages_that_are_left(service: Service) -> None:
    send, _, messages = a_list(service, 3)
    cancel(service, messages[1])
    assert service.patch(f"/sends/{send}", message="x" * 200).status_code == 200
    assert service.get("/balance").json["reserved"] == 4
    assert audit(service.engine, full=True) == []
    service.post(f"/sends/{send}/cancel")
    assert service.get("/balance").json["balance"] == 1000
    assert audit(service.engine, full=True) == []


def test_texts_that_differ_are_given_back_at_their_own_price(service: Service) -> None:
    recipients = [
        {"phone": f"25471100000{number}", "variables": {"text": "x" * length}}
        for number, length in enumerate((10, 200, 400))
    ]
    messages = service.bulk(recipients, "{{text}}", send_at=ahead()).json["messages"]
    assert service.get("/balance").json["reserved"] == 6
    cancel(service, messages[1]["message_id"])
    assert service.get("/balance").json["reserved"] == 4
    assert audit(service.engine, full=True) == []


def test_the_next_round_pauses_when_the_last_of_this_one_is_canceled(service: Service) -> None:
    send, _, messages = a_list(service, 3)
    make_due(service, send)
    [batch] = claim_some(service, budget=2)
    batch.postponed = [0, 1]
    settle_rest(service.engine, [batch], "simulator", wait=0.0)
    assert cancel(service, messages[2]).status_code == 200
    row = service.row(BATCH, send=send)
    assert (row.retry_indexes, row.postponed, row.attempts, row.state) == ([1, 2], 0, 1, "waiting")
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize(("portion", "left"), [(2, (None, None)), (None, ("a", "to a"))])
def test_what_is_left_is_routed_again_if_it_was_split(
    service: Service, portion: int | None, left: tuple[str | None, str | None]
) -> None:
    send, _, messages = a_list(service, 3)
    routed = (
        "UPDATE batch SET carrier = 'a', route = 'to a', portion = :portion, retry_indexes = '{1,2,3}',"
        " next_index = 4 WHERE send_id = :send"
    )
    service.execute(routed, portion=portion, send=send)
    assert cancel(service, messages[0]).status_code == 200
    found = "SELECT carrier, route, portion, retry_indexes FROM batch WHERE send_id = :send"
    assert tuple(service.row(found, send=send)) == (*left, None, [2, 3])


@pytest.mark.parametrize("seed", range(6))
def test_any_history_sends_or_cancels_each_message_once(engine: Engine, seed: int) -> None:
    """Cycles that submit, postpone or leave messages, and cancellations between them and within."""
    service, chance = Service(engine), random.Random(seed)
    send, phones, messages = a_list(service, 20)
    make_due(service, send)
    submitted: list[str] = []
    canceled: set[str] = set()
    for _ in range(30):
        batches = claim_some(service, budget=chance.randint(1, 6)) if chance.random() < 0.4 else []
        for message, phone in chance.sample(list(zip(messages, phones, strict=True)), 2):
            if cancel(service, message).status_code == 200:
                canceled.add(phone)
        for batch in batches:
            for position, phone in enumerate(batch.phones):
                fate = chance.choice(("sent", "postponed", "left"))
                if fate == "sent":
                    submitted.append(phone)
                    batch.put(position, sent())
                elif fate == "postponed":
                    batch.postponed.append(position)
            settle_rest(engine, [batch], "simulator", wait=0.0, pauses=(0.0,) * 99)
        assert audit(engine, full=True) == []
    while batches := claim_some(service):
        for batch in batches:
            submitted += batch.phones
            for position in range(len(batch.phones)):
                batch.put(position, sent())
            settle_rest(engine, [batch], "simulator", wait=0.0)
    make_everything_due(service)
    service.sweep()
    submitted += service.submitted().keys() & set(phones)
    assert sorted(submitted + list(canceled)) == phones
    assert service.get("/balance").json["balance"] == 1000 - len(submitted)
    assert audit(engine, full=True) == []
