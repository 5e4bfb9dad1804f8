"""What an SMSC delivers, right or wrong: receipts and inbound messages."""

import time

import pytest

from shared.carriers.smpp.constants import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import pdu
from shared.carriers.unreadable import Unreadable
from tests.harness.house import wait_until
from tests.harness.scripted_smsc import answer
from tests.services.carriers.scripted_pair import PATIENCE, RECEIPT, deliver, pair, references
from worker.carriers.base import Outcome, Receipt, ResponseKind


@pytest.mark.parametrize("cut", [None, 10, 60, 100])
def test_receipts_before_the_response_to_the_bind_are_accepted(cut: int | None) -> None:
    """A carrier that has receipts for us may give them at once, or look whether we live."""
    with pair(bound=False) as both:
        bind = both.smsc.accept(answered=False)
        early = deliver(RECEIPT.format("r1"), 7) + pdu(Command.ENQUIRE_LINK, 0, 8)
        both.smsc.send(early[:cut])
        if cut is not None:
            time.sleep(0.05)
            both.smsc.send(early[cut:])
        assert both.smsc.read()[:3] == (Command.ENQUIRE_LINK_RESP, 0, 8)
        both.smsc.send(pdu(bind.command | RESPONSE, 0, bind.sequence, b"SMSC\0"))
        assert both.smsc.read()[:3] == (Command.DELIVER_SM_RESP, 0, 7)
        assert [receipt.reference for receipt in both.inbox.receipts] == ["r1"]
        assert both.carrier.trouble is None


def test_a_response_and_its_receipts_for_parts_may_come_in_any_order() -> None:
    """The receipts of a message in parts come before the carrier has said what the parts are called."""
    with pair() as both:
        done = both.submit(1, "x" * 200)
        submits = both.smsc.submits(2)
        both.smsc.send(deliver(RECEIPT.format("p1"), 1) + deliver(RECEIPT.format("p0"), 2))
        both.smsc.send(answer(submits[1], b"p1") + answer(submits[0], b"p0"))
        assert references(done) == ["p0"]
        assert {both.smsc.read().sequence for _ in range(2)} == {1, 2}
        assert [receipt.reference for receipt in both.inbox.receipts] == ["p0"]


def test_a_message_sent_in_part_is_in_doubt_and_its_receipt_says_undelivered() -> None:
    with pair() as both:
        done = both.submit(1, "x" * 200)
        first, second = both.smsc.submits(2)
        both.smsc.answer(first, status=Status.ESME_RINVDSTADR)
        both.smsc.answer(second, b"p1")
        assert done.result(PATIENCE) == [Outcome(ResponseKind.IN_DOUBT, error="partly_sent")]
        both.smsc.send(deliver(RECEIPT.format("p1"), 1))
        both.smsc.read()
        assert [(each.status.value, each.error) for each in both.inbox.receipts] == [("undelivered", "partly_sent")]


def test_a_receipt_of_a_part_waits_until_its_message_is_accepted_or_in_doubt() -> None:
    """The carrier delivers the first part while it refuses the second one for now."""
    with pair() as both:
        done = both.submit(1, "x" * 200)
        first, second = both.smsc.submits(2)
        both.smsc.send(answer(first, b"p0") + deliver(RECEIPT.format("p0"), 1))
        both.smsc.answer(second, status=Status.ESME_RTHROTTLED)
        (again,) = both.smsc.submits(1)  # the receipt is not answered before
        assert not both.inbox.receipts
        both.smsc.answer(again, status=Status.ESME_RINVDSTADR)
        assert done.result(PATIENCE) == [Outcome(ResponseKind.IN_DOUBT, error="partly_sent")]
        assert both.smsc.read()[:3] == (Command.DELIVER_SM_RESP, 0, 1)
        assert [(each.reference, each.status.value) for each in both.inbox.receipts] == [("p0", "undelivered")]


def test_a_receipt_of_a_part_is_passed_on_if_another_part_gets_no_response() -> None:
    with pair() as both:
        done = both.submit(1, "x" * 200)
        first, _ = both.smsc.submits(2)
        both.smsc.send(answer(first, b"p0") + deliver(RECEIPT.format("p0"), 1))
        both.smsc.hang_up()
        assert done.result(PATIENCE) == [Outcome(ResponseKind.IN_DOUBT, error="no_response")]
        wait_until(lambda: both.inbox.receipts, PATIENCE, "the receipt")
        assert [(each.reference, each.status.value) for each in both.inbox.receipts] == [("p0", "delivered")]


def test_an_unreadable_receipt_is_kept_and_counted_before_it_is_answered() -> None:
    with pair() as both:
        kept = both.inbox.unreadable
        both.smsc.send(deliver("nothing in it", 9))
        assert both.smsc.read() == (Command.DELIVER_SM_RESP, 0, 9, b"\0")
        assert (both.carrier.unreadable, both.inbox.receipts) == (1, [])
        both.smsc.send(pdu(Command.DELIVER_SM, 0, 10, b"cut"))
        assert both.smsc.read()[:3] == (Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, 10)
        both.smsc.send(deliver(RECEIPT.format("r1"), 11, esm_class=0))
        assert both.smsc.read()[:3] == (Command.DELIVER_SM_RESP, 0, 11)
        assert [each.reason for each in kept] == ["no_id_or_state", "malformed", "not_marked"]
        assert b"nothing in it" in kept[0].octets
        assert kept[1].octets == b"cut"
        assert (both.carrier.unreadable, both.carrier.unmatched_responses) == (2, 0)


def test_an_unreadable_receipt_that_cannot_be_kept_stays_with_the_carrier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.carriers.smpp.deliveries.STORE_TIME", 0.1)

    def fail(found: list[Unreadable]) -> None:
        raise RuntimeError("the database is away")

    with pair() as both:
        monkeypatch.setattr(both.inbox, "store_unreadable", fail)
        both.smsc.send(deliver("nothing in it", 9))
        assert both.smsc.read()[:3] == (Command.DELIVER_SM_RESP, Status.ESME_RX_T_APPN, 9)
        assert both.carrier.unreadable == 0


def test_a_receipt_that_cannot_be_stored_stays_with_the_carrier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.carriers.smpp.deliveries.STORE_TIME", 0.1)

    def fail(receipts: list[Receipt]) -> None:
        raise RuntimeError("the database is away")

    with pair() as both:
        monkeypatch.setattr(both.inbox, "store_receipts", fail)
        both.smsc.send(deliver(RECEIPT.format("r1"), 9))
        assert both.smsc.read()[:3] == (Command.DELIVER_SM_RESP, Status.ESME_RX_T_APPN, 9)


def test_receipts_that_a_carrier_does_not_mark_are_receipts_if_configured() -> None:
    with pair(unmarked_receipts=True) as both:
        both.smsc.send(deliver(RECEIPT.format("r1"), 9, esm_class=0))
        assert both.smsc.read()[:3] == (Command.DELIVER_SM_RESP, 0, 9)
        assert [receipt.reference for receipt in both.inbox.receipts] == ["r1"]
