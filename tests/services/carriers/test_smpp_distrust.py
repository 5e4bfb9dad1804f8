"""The SMPP driver against an SMSC that is wrong: in its responses, its octets, its silence."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import HEADER, pdu, tlv
from tests.harness.house import wait_until
from tests.harness.response_timeout import submit_until
from tests.harness.scripted_smsc import answer
from tests.harness.times import pass_time
from tests.services.carriers.scripted_pair import PATIENCE, pair, references
from tests.unit.carriers.smpp.making import Quota, message_group
from worker.carriers.base import ResponseKind
from worker.carriers.smpp import session


def test_responses_in_any_order_find_their_messages() -> None:
    with pair() as both:
        done = both.submit(5)
        submits = both.smsc.submits(5)
        for number in (3, 0, 4, 2, 1):
            both.smsc.answer(submits[number], b"id%d" % number)
        assert references(done) == ["id0", "id1", "id2", "id3", "id4"]


def test_unexpected_and_repeated_responses_are_counted_and_change_nothing() -> None:
    with pair() as both:
        done = both.submit(2)
        first, second = both.smsc.submits(2)
        both.smsc.answer(first, b"right")
        both.smsc.answer(first, b"wrong")
        both.smsc.answer(first, status=Status.ESME_RSYSERR)
        for sequence in (0, second.sequence + 1, 0x7FFFFFFF, 0xFFFFFFFF):
            both.smsc.send(pdu(Command.SUBMIT_SM_RESP, 0, sequence, b"stranger\0"))
        both.smsc.answer(second, b"right too")
        assert references(done) == ["right", "right too"]
        assert both.carrier.unmatched_responses == 6


@pytest.mark.parametrize(
    ("body", "reference"),
    [
        (b"", None),
        (b"\0", None),
        (b"id", None),
        (b"i" * 5000 + b"\0", None),
        (b"id\0" + tlv(5, b"more"), "id"),
        (b"id  \0", "id"),
    ],
)
def test_an_accepted_message_is_accepted_whatever_its_id_looks_like(body: bytes, reference: str | None) -> None:
    with pair() as both:
        done = both.submit(1)
        (submit,) = both.smsc.submits(1)
        both.smsc.send(pdu(Command.SUBMIT_SM_RESP, 0, submit.sequence, body))
        assert references(done) == [reference]


@pytest.mark.parametrize(
    ("status", "outcome"), [(0x58, ResponseKind.THROTTLED), (0x02, ResponseKind.REJECTED), (0, ResponseKind.FAILED)]
)
def test_a_nack_of_ours_is_a_response(status: int, outcome: ResponseKind) -> None:
    with pair() as both:
        done = both.submit(1)
        (submit,) = both.smsc.submits(1)
        both.smsc.send(pdu(Command.GENERIC_NACK, status, submit.sequence))
        assert [each.response for each in done.result(PATIENCE)] == [outcome]


def test_the_window_is_never_exceeded_by_all_threads_together() -> None:
    with pair(window=10) as both:
        work = [both.submit(25) for _ in range(3)]
        waiting = both.smsc.submits(10)
        for _ in range(65):
            assert both.smsc.nothing_more(0.001)
            both.smsc.answer(waiting.pop(0))
            waiting += both.smsc.submits(1)
        for submit in waiting:
            both.smsc.answer(submit)
        assert sum(len(references(done)) for done in work) == 75


def test_messages_that_find_no_place_in_the_window_in_time_are_not_submitted() -> None:
    """The response timeout is over when as many as the window holds have come."""
    with pair(window=2) as both:
        group = message_group("x", [f"2547{number:08d}" for number in range(5)])
        outcomes = submit_until(lambda: both.smsc.submits(2), both.carrier, group)
        assert [(each.response, each.error) for each in outcomes] == [
            *[(ResponseKind.IN_DOUBT, "no_response")] * 2,
            *[(ResponseKind.THROTTLED, "window_full")] * 3,
        ]
        assert both.smsc.nothing_more(0.2)


def test_a_lost_connection_leaves_only_submitted_messages_in_doubt() -> None:
    with pair(window=4) as both:
        done = both.submit(10)
        submits = both.smsc.submits(4)
        both.smsc.answer(submits[0])
        both.smsc.submits(1)
        both.smsc.hang_up()
        outcomes = done.result(PATIENCE)
        assert [each.response for each in outcomes] == [
            ResponseKind.ACCEPTED,
            *[ResponseKind.IN_DOUBT] * 4,
            *[ResponseKind.THROTTLED] * 5,
        ]
        assert {each.error for each in outcomes[5:]} == {"not_connected"}


@pytest.mark.parametrize("length", [0, 4, 15, 65_537, 0xFFFFFFFF])
def test_an_impossible_length_ends_the_connection(length: int) -> None:
    with pair() as both:
        done = both.submit(2)
        first, _ = both.smsc.submits(2)
        both.smsc.send(answer(first, b"kept") + HEADER.pack(length, Command.DELIVER_SM, 0, 1) + b"x" * 40)
        accepted, doubt = done.result(PATIENCE)
        assert (accepted.reference, doubt.response) == ("kept", ResponseKind.IN_DOUBT)
        assert both.smsc.read().command == Command.GENERIC_NACK
        both.smsc.accept()  # it comes back
        assert both.carrier.unreadable == 1


def test_requests_of_the_carrier_are_answered_properly() -> None:
    with pair() as both:
        both.smsc.send(pdu(Command.ENQUIRE_LINK, 0, 41))
        assert both.smsc.read() == (Command.ENQUIRE_LINK_RESP, 0, 41, b"")
        both.smsc.send(pdu(Command.ALERT_NOTIFICATION, 0, 42, b"\1\1254\0\1\1254\0"))
        both.smsc.send(pdu(0x0999, 0, 43, b"what?"))
        assert both.smsc.read() == (Command.GENERIC_NACK, Status.ESME_RINVCMDID, 43, b"")
        both.smsc.send(pdu(Command.SUBMIT_SM, 0, 44, b""))
        assert both.smsc.read()[:3] == (Command.GENERIC_NACK, Status.ESME_RINVCMDID, 44)
        both.smsc.send(pdu(0x80000999, 0, 45))
        both.smsc.send(pdu(Command.DELIVER_SM, 0, 46, b"\0\1\1no end"))
        assert both.smsc.read()[:3] == (Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, 46)


def test_an_unbind_lets_what_is_under_way_be_answered() -> None:
    with pair(window=2) as both:
        done = both.submit(4)
        submits = both.smsc.submits(2)
        both.smsc.send(pdu(Command.UNBIND, 0, 50))
        both.smsc.send(answer(submits[0], b"a") + answer(submits[1], b"b"))
        assert both.smsc.read() == (Command.UNBIND_RESP, 0, 50, b"")
        outcomes = done.result(PATIENCE)
        assert [each.reference for each in outcomes] == ["a", "b", None, None]
        assert [each.response for each in outcomes[2:]] == [ResponseKind.THROTTLED] * 2
        both.smsc.accept()


def test_closing_unbinds() -> None:
    with pair() as both, ThreadPoolExecutor(1) as pool:
        closed = pool.submit(both.carrier.close)
        unbind = both.smsc.read()
        assert unbind.command == Command.UNBIND
        both.smsc.send(pdu(Command.UNBIND_RESP, 0, unbind.sequence))
        closed.result(PATIENCE)
        assert (both.carrier.trouble or "").startswith("closed: ")


def test_a_silent_carrier_gets_an_enquire_link_and_then_a_new_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    with pair(enquire_link=0.2, connect_timeout=PATIENCE) as both:
        enquiry = both.smsc.read()
        assert enquiry.command == Command.ENQUIRE_LINK
        both.smsc.send(pdu(Command.ENQUIRE_LINK_RESP, 0, enquiry.sequence))
        assert both.smsc.read().command == Command.ENQUIRE_LINK  # unanswered
        pass_time(monkeypatch, session, PATIENCE)
        wait_until(lambda: both.carrier.trouble is not None, PATIENCE, "the end, while this connection stands")
        both.smsc.accept()


@pytest.mark.parametrize("status", [Status.ESME_RALYBND, Status.ESME_RSYSERR])
def test_a_bind_refused_for_now_is_tried_again(status: int) -> None:
    with pair(bound=False) as both:
        both.smsc.accept(status)
        refused = f"connecting: {Status(status).name}"
        wait_until(lambda: both.carrier.trouble == refused, PATIENCE, "the refusal")
        both.smsc.accept()
        wait_until(lambda: both.carrier.trouble is None, PATIENCE, "the bind")


@pytest.mark.parametrize(
    "reply",
    [
        pdu(Command.SUBMIT_SM_RESP, 0, 1, b"id\0"),
        pdu(Command.UNBIND, 0, 1),
        HEADER.pack(15, Command.DELIVER_SM, 0, 1),
        HEADER.pack(2**31, Command.DELIVER_SM, 0, 1),
    ],
)
def test_an_invalid_response_to_a_bind_ends_the_connection(reply: bytes) -> None:
    with pair(bound=False) as both:
        both.smsc.accept(answered=False)
        both.smsc.send(reply)
        both.smsc.accept()
        wait_until(lambda: both.carrier.trouble is None, PATIENCE, "the bind")


def test_a_part_refused_for_now_is_submitted_again() -> None:
    pace = Quota(left=3)
    with pair() as both:
        both.carrier.pace = pace
        done = both.submit(1, "x" * 200)
        first, second = both.smsc.submits(2)
        both.smsc.answer(first, b"p0")
        both.smsc.answer(second, status=Status.ESME_RTHROTTLED)
        (again,) = both.smsc.submits(1)
        assert again.body == second.body
        assert again.sequence != second.sequence
        both.smsc.answer(again, b"p1")
        assert references(done) == ["p0"]
    assert len(pace.deadlines) == 3
    assert len(set(pace.deadlines)) == 1, "a part that goes again has no more time than the others"
