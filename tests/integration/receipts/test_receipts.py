"""Which message a receipt is for: by the carrier's id, or by its phone where no other message can be meant."""

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from string import ascii_letters
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from shared.carriers.receipts import Receipt
from shared.db.connection import is_outage
from shared.db.errors import is_value_refused
from shared.doubts.resolution import expire_doubts
from shared.ids import message_id, time_of
from shared.lifecycle import MessageStatus
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.carriers.base import LateResponse, Outcome, ResponseKind
from worker.jobs.housekeeping import housekeeping
from worker.receipts.late_responses import record_late_responses
from worker.receipts.match import match_unmatched, record
from worker.receipts.match_doubts import resolve_by_receipts
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.next_batches import ClaimRequest
from worker.sending.settle_rest import settle_rest

SENT, IN_DOUBT, DELIVERED, UNDELIVERED = (
    MessageStatus.SENT,
    MessageStatus.IN_DOUBT,
    MessageStatus.DELIVERED,
    MessageStatus.UNDELIVERED,
)
CARRIER = "smsc"
DUE = (
    text("UPDATE send SET state = 'queued', send_at = NULL WHERE id = :id"),
    text("UPDATE batch SET state = 'queued' WHERE send_id = :id"),
)
EARLIER = (
    text("UPDATE message SET submitted_at = submitted_at - CAST(:by AS interval) WHERE id = :id"),
    text("UPDATE doubt SET submitted_at = submitted_at - CAST(:by AS interval) WHERE message_id = :id"),
)
phones = (str(254_770_000_000 + number) for number in count())


@pytest.fixture
def phone() -> str:
    """One that no other test sends to."""
    return next(phones)


@pytest.fixture(autouse=True)
def nothing_under_way(service: Service) -> Iterator[None]:
    """What a test leaves under way is nobody's afterwards."""
    yield
    service.execute("DELETE FROM batch WHERE state IN ('queued', 'sending')")
    service.execute("DELETE FROM receipt")


def under_way(service: Service, phone: str, message: str = "Hi", **more: Any) -> ClaimedBatch:
    """A message that a worker is submitting."""
    sent = service.send(phone, message, send_at=ahead(), **more)
    for change in DUE:
        service.execute(change, id=sent.json["send_id"])
    [batch] = claim(service.engine, ClaimRequest(budget=1000, window_size=100, lease=60))
    return batch


def end(
    service: Service,
    batch: ClaimedBatch,
    status: MessageStatus,
    reference: str | None = None,
    attempts: int = 1,
    error: str | None = None,
) -> UUID:
    """Its turn ends with that. Returns the message's id."""
    batch.put(0, Result(status, reference, error, str(datetime.now(UTC)), attempts))
    batch.next_position = 1
    settle_rest(service.engine, [batch], CARRIER, 0)
    return UUID(int=batch.batch_id.int | 1)


def submitted(
    service: Service, phone: str, status: MessageStatus, reference: str | None = None, message: str = "Hi"
) -> UUID:
    """A message with that result."""
    return end(service, under_way(service, phone, message), status, reference)


def hear(service: Service, phone: str | None, reference: str, status: MessageStatus = DELIVERED, **more: Any) -> None:
    """A receipt arrives, and the sweeper resolves what it can."""
    carrier = more.pop("carrier", CARRIER)
    receipt = Receipt(reference, status, None, more.pop("done_at", datetime.now(UTC)), phone, **more)
    record(service.engine, carrier, [receipt])
    resolve(service)


def resolve(service: Service) -> None:
    resolve_by_receipts(service.engine, newest=60)
    match_unmatched(service.engine, newest=60)


def status(service: Service, message: UUID) -> str:
    return str(service.scalar("SELECT status FROM message WHERE id = :id", id=message))


def kept(service: Service) -> int:
    return int(service.scalar("SELECT count(*) FROM receipt"))


# --- doubts -----------------------------------------------------------------------------------------------------------


def test_a_receipt_resolves_a_doubt_if_no_other_message_can_be_meant(service: Service, phone: str) -> None:
    message = submitted(service, phone, IN_DOUBT)
    hear(service, phone, "b1", sender_id="ACME")
    assert status(service, message) == "delivered"
    assert kept(service) == 0


def test_a_receipt_that_is_early_resolves_no_other_doubt(service: Service, phone: str) -> None:
    """The first message never reached the carrier; the second is taken, and its receipt comes before its record."""
    doubt = submitted(service, phone, IN_DOUBT)
    second = under_way(service, phone)
    hear(service, phone, "c2")
    assert status(service, doubt) == "in_doubt"
    message = end(service, second, SENT, "c2")
    resolve(service)
    assert (status(service, doubt), status(service, message)) == ("in_doubt", "delivered")


def test_no_doubt_is_resolved_while_another_message_waits_for_its_receipt(service: Service, phone: str) -> None:
    doubt, waits = submitted(service, phone, IN_DOUBT), submitted(service, phone, SENT, "d1")
    hear(service, phone, "D1")
    assert (status(service, doubt), status(service, waits)) == ("in_doubt", "sent")
    hear(service, phone, "d1")
    resolve(service)
    assert (status(service, doubt), status(service, waits)) == ("delivered", "delivered")


def test_of_two_doubts_neither_is_resolved(service: Service, phone: str) -> None:
    doubts = [submitted(service, phone, IN_DOUBT) for _ in range(2)]
    hear(service, phone, "e1")
    assert [status(service, doubt) for doubt in doubts] == ["in_doubt"] * 2
    assert kept(service) == 1


def test_no_doubt_is_resolved_if_another_part_of_a_long_message_may_be_meant(service: Service, phone: str) -> None:
    """The service knows only the first part's id."""
    doubt, long = submitted(service, phone, IN_DOUBT), submitted(service, phone, SENT, "f1", "x" * 300)
    hear(service, phone, "f1")
    hear(service, phone, "f2")
    assert (status(service, doubt), status(service, long)) == ("in_doubt", "delivered")


def test_no_doubt_is_resolved_if_a_message_that_was_sent_twice_may_be_meant(service: Service, phone: str) -> None:
    doubt, twice = submitted(service, phone, IN_DOUBT), end(service, under_way(service, phone), SENT, "g2", 2)
    sends = "UPDATE send SET resent = 1 WHERE id = (SELECT send_id FROM batch WHERE id = batch_of(:id))"
    service.execute(sends, id=twice)
    hear(service, phone, "g2")
    hear(service, phone, "g1")
    assert (status(service, doubt), status(service, twice)) == ("in_doubt", "delivered")


def test_no_doubt_is_resolved_if_one_that_an_operator_resolved_may_be_meant(service: Service, phone: str) -> None:
    doubt, resolved = submitted(service, phone, IN_DOUBT), submitted(service, phone, SENT, None)
    service.execute("UPDATE message SET status = 'delivered', reference = NULL WHERE id = :id", id=resolved)
    hear(service, phone, "h1")
    assert status(service, doubt) == "in_doubt"


def test_a_doubt_that_cannot_be_resolved_delays_no_other(service: Service, phone: str) -> None:
    """Its receipt has an id that is too long for the index of references."""
    other = next(phones)
    bad, good = submitted(service, phone, IN_DOUBT), submitted(service, other, IN_DOUBT)
    endless = "".join(random.Random(1).choices(ascii_letters, k=20_000))
    for each, reference in ((phone, endless), (other, f"y{other}")):
        record(service.engine, CARRIER, [Receipt(reference, DELIVERED, None, datetime.now(UTC), each)])
    with pytest.raises(OperationalError) as refused, service.engine.begin() as connection:
        change = text("UPDATE message SET reference = :reference WHERE id = :id")
        connection.execute(change, {"reference": endless, "id": bad})
    assert is_value_refused(refused.value)
    assert not is_outage(refused.value)
    assert resolve_by_receipts(service.engine, newest=60) == 1
    assert (status(service, bad), status(service, good)) == ("in_doubt", "delivered")


def test_two_receipts_of_different_ids_are_no_evidence_for_one_doubt(service: Service, phone: str) -> None:
    doubt = submitted(service, phone, IN_DOUBT)
    batch = [Receipt(f"i{number}", DELIVERED, None, datetime.now(UTC), phone) for number in range(2)]
    record(service.engine, CARRIER, batch)
    resolve(service)
    assert status(service, doubt) == "in_doubt"


@pytest.mark.parametrize(("second", "result"), [(DELIVERED, "delivered"), (UNDELIVERED, "undelivered")])
def test_a_long_message_in_doubt_has_a_receipt_for_each_part(
    service: Service, phone: str, second: MessageStatus, result: str
) -> None:
    doubt = submitted(service, phone, IN_DOUBT, message="x" * 300)
    now = datetime.now(UTC)
    batch = [Receipt(f"{phone}1", DELIVERED, None, now, phone), Receipt(f"{phone}2", second, None, now, phone)]
    record(service.engine, CARRIER, batch)
    resolve(service)
    assert status(service, doubt) == result


@pytest.mark.parametrize("reported", [DELIVERED, UNDELIVERED])
def test_a_final_receipt_of_a_message_sent_in_part_makes_it_undelivered_for_good(
    service: Service, phone: str, reported: MessageStatus
) -> None:
    """Also at a worker that does not know its parts."""
    message = end(service, under_way(service, phone, "x" * 200), IN_DOUBT, error="partly_sent")
    hear(service, phone, f"H{phone}", SENT)
    assert status(service, message) == "in_doubt"
    hear(service, phone, f"H{phone}", reported)
    hear(service, phone, f"H{phone}")
    status_and_error = tuple(service.row("SELECT status, error FROM message WHERE id = :id", id=message))
    assert (*status_and_error, kept(service)) == ("undelivered", "partly_sent", 0)


def test_a_receipt_that_names_another_sender_resolves_nothing(service: Service, phone: str) -> None:
    doubt = submitted(service, phone, IN_DOUBT)
    hear(service, phone, "j1", sender_id="OTHER")
    assert status(service, doubt) == "in_doubt"


def test_a_receipt_of_another_carrier_or_phone_resolves_nothing(service: Service, phone: str) -> None:
    doubt = submitted(service, phone, IN_DOUBT)
    hear(service, phone, "k1", carrier="other")
    hear(service, next(phones), "k2")
    hear(service, None, "k3")
    assert status(service, doubt) == "in_doubt"


@pytest.mark.parametrize("days", [3.1, -0.01])
def test_a_receipt_of_another_time_resolves_nothing(service: Service, phone: str, days: float) -> None:
    """It says when the message was delivered: long after this one was submitted, or before."""
    doubt = submitted(service, phone, IN_DOUBT)
    if days > 0:
        for change in EARLIER:
            service.execute(change, by=timedelta(days=days), id=doubt)
    hear(service, phone, "l1", done_at=datetime.now(UTC) + timedelta(days=min(days, 0)))
    assert status(service, doubt) == "in_doubt"


@pytest.mark.parametrize(
    ("response", "becomes", "reference", "credits"),
    [
        (ResponseKind.ACCEPTED, "sent", "late", 1),
        (ResponseKind.REJECTED, "failed", None, 0),
        (ResponseKind.FAILED, "failed", None, 0),
        (ResponseKind.THROTTLED, "failed", None, 0),
        (ResponseKind.POSTPONED, "failed", None, 0),
        (ResponseKind.IN_DOUBT, "in_doubt", None, 1),
    ],
)
def test_a_late_response_ends_the_doubt(
    service: Service, phone: str, response: ResponseKind, becomes: str, reference: str | None, credits: int
) -> None:
    doubt = submitted(service, phone, IN_DOUBT)
    record_late_responses(service.engine, [LateResponse(doubt, Outcome(response, reference))])
    row = "SELECT CAST(status AS text), reference FROM message WHERE id = :id"
    assert tuple(service.row(row, id=doubt)) == (becomes, reference)
    assert service.get("/balance").json["balance"] == 1000 - credits


def test_a_late_response_may_say_that_the_person_has_opted_out(service: Service, phone: str) -> None:
    doubt = submitted(service, phone, IN_DOUBT)
    said = Outcome(ResponseKind.REJECTED, error="recipient_opted_out=21610")
    record_late_responses(service.engine, [LateResponse(doubt, said)])
    assert status(service, doubt) == "rejected"
    assert service.get("/balance").json["balance"] == 1000
    [entry] = service.get(f"/suppressions?phone={phone}").json["data"]
    assert entry["reason"] == "carrier"


@pytest.mark.parametrize("response", [ResponseKind.ACCEPTED, ResponseKind.REJECTED])
def test_a_late_response_before_the_doubt_is_reported_again(
    service: Service, phone: str, response: ResponseKind
) -> None:
    batch = under_way(service, phone)
    late = [LateResponse(message_id(batch.batch_id, 1), Outcome(response, "early"))]
    assert record_late_responses(service.engine, late) == late
    doubt = end(service, batch, IN_DOUBT)
    assert record_late_responses(service.engine, late) == []
    assert status(service, doubt) == ("sent" if response is ResponseKind.ACCEPTED else "failed")
    assert record_late_responses(service.engine, late) == []


def test_a_late_refusal_is_not_kept_for_a_message_that_may_be_sent_again(service: Service, phone: str) -> None:
    """Its doubt may then be about the second submit, which the carrier may have accepted."""
    batch = under_way(service, phone)
    accepted, refused = (
        [LateResponse(message_id(batch.batch_id, 1), Outcome(response, "early"))]
        for response in (ResponseKind.ACCEPTED, ResponseKind.REJECTED)
    )
    assert record_late_responses(service.engine, refused, resend_lanes={batch.lane}) == []
    assert record_late_responses(service.engine, accepted, resend_lanes={batch.lane}) == accepted


@pytest.mark.parametrize("refusal", [ResponseKind.REJECTED, ResponseKind.FAILED, ResponseKind.THROTTLED])
@pytest.mark.parametrize("submits", [1, 2])
def test_a_late_refusal_ends_only_the_doubt_of_a_message_that_was_submitted_once(
    service: Service, phone: str, refusal: ResponseKind, submits: int
) -> None:
    """Otherwise the carrier may have accepted another submit of it."""
    batch = under_way(service, phone)
    for _ in range(submits - 1):
        batch = submitted_again(service, batch)
    doubt = end(service, batch, IN_DOUBT, attempts=submits)
    late = [LateResponse(doubt, Outcome(refusal)), LateResponse(doubt, Outcome(ResponseKind.ACCEPTED, f"{phone}1"))]
    assert record_late_responses(service.engine, late[:1], {batch.lane}) == []
    assert status(service, doubt) == ("failed" if submits == 1 else "in_doubt")
    record_late_responses(service.engine, late[1:], {batch.lane})
    assert status(service, doubt) == ("failed" if submits == 1 else "sent")


def submitted_again(service: Service, batch: ClaimedBatch) -> ClaimedBatch:
    """The batch's next cycle, after one in which its message got no response."""
    batch.put(0, Result(IN_DOUBT, None, "no_response", str(datetime.now(UTC)), 1))
    batch.next_position = 1
    settle_rest(service.engine, [batch], CARRIER, 0, {batch.lane})
    service.execute("UPDATE batch SET state = 'queued' WHERE id = :id", id=batch.batch_id)
    [again] = claim(service.engine, ClaimRequest(budget=1000, window_size=100, lease=60))
    assert again.batch_id == batch.batch_id
    return again


def test_a_doubt_is_given_up_only_after_its_validity_and_the_grace(service: Service, phone: str) -> None:
    doubt = submitted(service, phone, IN_DOUBT)
    ended = "UPDATE doubt SET expires_at = now() - interval '100 s' WHERE message_id = :id"
    service.execute(ended, id=doubt)
    expire_doubts(service.engine, grace=3600)
    assert status(service, doubt) == "in_doubt"
    service.execute("UPDATE doubt SET expires_at = now() + interval '1 hour' WHERE message_id = :id", id=doubt)
    expire_doubts(service.engine, grace=0)
    assert status(service, doubt) == "in_doubt"
    service.execute(ended, id=doubt)
    expire_doubts(service.engine, grace=60)
    assert status(service, doubt) == "expired"
    assert service.get("/balance").json["balance"] == 1000


# --- messages of a carrier that tells no ids --------------------------------------------------------------------------


def test_a_message_without_an_id_is_found_only_if_it_is_the_only_one_for_its_phone(
    service: Service, phone: str
) -> None:
    messages = [submitted(service, phone, SENT) for _ in range(2)]
    hear(service, phone, "n1")
    assert [status(service, message) for message in messages] == ["sent"] * 2


def test_a_message_without_an_id_is_not_found_if_a_doubt_may_be_meant(service: Service, phone: str) -> None:
    doubt, message = submitted(service, phone, IN_DOUBT), submitted(service, phone, SENT)
    hear(service, phone, "o1")
    assert (status(service, doubt), status(service, message)) == ("in_doubt", "sent")


def test_a_message_without_an_id_is_not_found_if_one_is_under_way(service: Service, phone: str) -> None:
    message, second = submitted(service, phone, SENT), under_way(service, phone)
    hear(service, phone, "p1")
    assert status(service, message) == "sent"
    assert end(service, second, SENT)
    resolve(service)
    assert status(service, message) == "sent"


def test_a_message_without_an_id_is_not_found_if_another_part_may_be_meant(service: Service, phone: str) -> None:
    long = submitted(service, phone, SENT, message="x" * 300)
    hear(service, phone, "q1")
    message = submitted(service, phone, SENT)
    hear(service, phone, "q2")
    assert (status(service, long), status(service, message)) == ("delivered", "sent")


def test_a_message_without_an_id_is_found_however_long_ago_it_was_accepted(
    service: Service, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was scheduled, or waited; its id has the time of its acceptance."""
    accepted = time.time_ns() - int(timedelta(days=90) / timedelta(microseconds=1)) * 1000
    monkeypatch.setattr("shared.ids.time", SimpleNamespace(time_ns=lambda: accepted))
    message = submitted(service, phone, SENT)
    hear(service, phone, "r1")
    assert time_of(message) < datetime.now(UTC) - timedelta(days=89)
    assert status(service, message) == "delivered"


# --- by the carrier's id ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reported", [SENT, DELIVERED])
def test_an_id_of_another_carrier_or_phone_is_another_id(service: Service, phone: str, reported: MessageStatus) -> None:
    message = submitted(service, phone, SENT, f"r{phone}")
    hear(service, phone, f"r{phone}", reported, carrier="other")
    hear(service, next(phones), f"r{phone}", reported)
    assert status(service, message) == "sent"
    assert kept(service) == 2


def test_an_id_of_two_messages_is_matched_by_the_phone(service: Service, phone: str) -> None:
    """A carrier may use its ids again for another phone."""
    messages = [submitted(service, each, SENT, f"v{phone}") for each in (phone, next(phones))]
    hear(service, None, f"v{phone}")
    assert [status(service, message) for message in messages] == ["sent"] * 2
    hear(service, phone, f"v{phone}", SENT)
    hear(service, phone, f"v{phone}")
    assert [status(service, message) for message in messages] == ["delivered", "sent"]


@pytest.mark.parametrize("reported", [SENT, DELIVERED])
def test_a_receipt_may_name_a_national_number(service: Service, phone: str, reported: MessageStatus) -> None:
    message = submitted(service, phone, SENT, f"A{phone}")
    hear(service, phone.removeprefix("254"), f"A{phone}", reported)
    hear(service, phone.removeprefix("254"), f"A{phone}")
    assert status(service, message) == "delivered"
    assert kept(service) == 0


def test_a_national_number_is_not_enough_if_an_id_is_of_several_messages(service: Service, phone: str) -> None:
    other = next(phones)
    messages = [submitted(service, each, SENT, f"B{phone}") for each in (phone, other)]
    hear(service, phone.removeprefix("254"), f"B{phone}")
    assert [status(service, message) for message in messages] == ["sent"] * 2
    hear(service, phone, f"B{phone}")
    assert [status(service, message) for message in messages] == ["delivered", "sent"]


def test_a_national_number_must_be_the_end_of_the_messages(service: Service, phone: str) -> None:
    """Its own message may not be recorded yet."""
    message = submitted(service, phone, SENT, f"C{phone}")
    hear(service, next(phones).removeprefix("254"), f"C{phone}")
    hear(service, f"1{phone}", f"C{phone}")
    assert status(service, message) == "sent"
    assert kept(service) == 2


@pytest.mark.parametrize("named", [True, False])
def test_a_receipt_is_for_one_message_even_if_several_have_its_id(service: Service, phone: str, named: bool) -> None:
    """For the oldest that has no final status."""
    messages = [submitted(service, phone, SENT, f"D{phone}") for _ in range(3)]
    receipts = [Receipt(f"D{phone}", DELIVERED, None, datetime.now(UTC), phone)]
    if not named:
        receipts.append(Receipt("foreign", SENT, None, datetime.now(UTC), phone))
    record(service.engine, CARRIER, receipts)
    assert [status(service, message) for message in messages] == ["delivered", "sent", "sent"]
    hear(service, phone, f"D{phone}", UNDELIVERED)
    assert [status(service, message) for message in messages] == ["delivered", "undelivered", "sent"]
    hear(service, phone, f"D{phone}")
    assert [status(service, message) for message in messages] == ["delivered", "undelivered", "delivered"]
    hear(service, phone, f"D{phone}")
    assert [status(service, message) for message in messages] == ["delivered"] * 3


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("other", [DELIVERED, UNDELIVERED])
def test_each_of_two_receipts_is_for_one_of_two_messages_with_their_id(
    service: Service, phone: str, early: bool, other: MessageStatus
) -> None:
    receipts = [Receipt(f"F{phone}", each, None, datetime.now(UTC), phone) for each in (other, DELIVERED)]
    if early:
        record(service.engine, CARRIER, receipts)
        assert kept(service) == 2
    messages = [submitted(service, phone, SENT, f"F{phone}") for _ in range(2)]
    if not early:
        record(service.engine, CARRIER, receipts)
    resolve(service)
    assert sorted(status(service, message) for message in messages) == sorted([other, DELIVERED])
    assert kept(service) == 0


@pytest.mark.parametrize("without_id", [False, True])
def test_a_repeated_receipt_counts_once_and_is_not_kept(service: Service, phone: str, without_id: bool) -> None:
    receipt = Receipt(f"G{phone}", DELIVERED, None, datetime.now(UTC), phone)
    record(service.engine, CARRIER, [receipt, receipt, receipt._replace(status=SENT)])
    record(service.engine, CARRIER, [receipt])
    message = submitted(service, phone, SENT, f"to:{phone}" if without_id else f"G{phone}")
    resolve(service)
    counts = "SELECT s.sent, s.delivered FROM send s JOIN batch b ON b.send_id = s.id WHERE b.id = batch_of(:id)"
    assert tuple(service.row(counts, id=message)) == (0, 1)
    assert kept(service) == 0


def test_an_unmatched_receipt_without_a_phone_is_tried_again(service: Service, phone: str) -> None:
    hear(service, None, f"s{phone}")
    message = submitted(service, phone, SENT, f"s{phone}")
    resolve(service)
    assert status(service, message) == "delivered"
    assert kept(service) == 0


def test_many_unmatched_receipts_delay_no_other(service: Service, phone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.receipts.match.PAGE", 3)
    batch = [Receipt(f"t{phone}", DELIVERED, None, datetime.now(UTC), phone)]
    others = [Receipt(f"foreign-{number}", DELIVERED, None, datetime.now(UTC), "254799999999") for number in range(10)]
    record(service.engine, CARRIER, batch)
    record(service.engine, CARRIER, others)
    message = submitted(service, phone, SENT, f"t{phone}")
    resolve(service)
    assert status(service, message) == "delivered"
    assert kept(service) == 10


def test_a_receipt_that_matches_nothing_is_kept_for_three_days(service: Service, phone: str) -> None:
    hear(service, phone, "w1")
    hear(service, phone, "w2")
    aged = "UPDATE receipt SET received_at = now() - CAST(:age AS interval) WHERE reference = :reference"
    service.execute(aged, age=timedelta(days=2.9), reference="w1")
    service.execute(aged, age=timedelta(days=3.1), reference="w2")
    for step in housekeeping(service.engine):
        step()
    assert kept(service) == 1


def test_an_old_receipt_resolves_a_doubt_once_nothing_else_can_be_meant(service: Service, phone: str) -> None:
    doubt, waits = submitted(service, phone, IN_DOUBT), submitted(service, phone, SENT, f"x{phone}")
    hear(service, phone, "x2")
    service.execute("UPDATE receipt SET received_at = received_at - interval '2 minutes'")
    hear(service, phone, f"x{phone}")
    assert (status(service, doubt), status(service, waits)) == ("in_doubt", "delivered")
    for step in housekeeping(service.engine):
        step()
    assert status(service, doubt) == "delivered"
    assert kept(service) == 0


@pytest.mark.parametrize(
    ("sent_to", "named", "sender"),
    [
        ("525555010123", "5215555010123", None),  # daddyz/phonelib #254
        ("5511955550123", "551155550123", "ACME"),  # chatwoot #5840
        ("541155550123", "5491155550123", None),
        ("2290197000123", "22997000123", None),
        ("254770999999", "447700900999", "254770999999"),  # the addresses of the submit: fiorix/go-smpp #73
    ],
)
def test_a_receipt_with_a_known_id_may_name_the_phone_otherwise(
    service: Service, sent_to: str, named: str, sender: str | None
) -> None:
    identity = end(service, under_way(service, sent_to), SENT, f"of {sent_to}")
    record(service.engine, CARRIER, [Receipt(f"of {sent_to}", DELIVERED, None, datetime.now(UTC), named, sender)])
    match_unmatched(service.engine, newest=60)
    assert service.get(f"/messages/{identity}").json["status"] == "delivered"
