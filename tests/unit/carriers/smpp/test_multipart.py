import pytest

from shared.lifecycle import MessageStatus
from tests.unit.carriers.smpp.making import NOW
from worker.carriers.base import Receipt
from worker.carriers.smpp.multipart import MultipartMessage, MultipartMessages

DELIVERED, UNDELIVERED, SENT = MessageStatus.DELIVERED, MessageStatus.UNDELIVERED, MessageStatus.SENT


PHONE, OTHER = "254711000000", "254711000001"


def known(total: int = 3) -> MultipartMessages:
    """One message, its parts p0, p1, …"""
    multiparts, long = MultipartMessages(), MultipartMessage(total, PHONE)
    for number in range(total):
        multiparts.add(f"p{number}", number, long)
    return multiparts


def on_part_receipt(multiparts: MultipartMessages, part: str, status: MessageStatus) -> tuple[str, str] | None:
    long = multiparts.find(part, PHONE)
    assert long is not None
    receipt = long.on_part_receipt(Receipt(part, status, None, NOW))
    return None if receipt is None else (receipt.reference, receipt.status)


def test_it_works() -> None:
    multiparts = known()
    assert on_part_receipt(multiparts, "p2", DELIVERED) is None
    assert on_part_receipt(multiparts, "p0", DELIVERED) is None
    assert on_part_receipt(multiparts, "p1", DELIVERED) == ("p0", DELIVERED)


@pytest.mark.parametrize("part", ["p0", "p2"])
@pytest.mark.parametrize("status", [DELIVERED, UNDELIVERED])
def test_a_carrier_may_report_only_one_part(part: str, status: MessageStatus) -> None:
    """The last one as jookies/jasmin #1136 has it, or the first as #663."""
    multiparts, long = MultipartMessages(), MultipartMessage(3, PHONE, one_receipt=True)
    for number in range(3):
        multiparts.add(f"p{number}", number, long)
    assert on_part_receipt(multiparts, part, status) == ("p0", status)


def test_a_part_is_found_by_the_other_spelling_of_its_phone() -> None:
    multiparts = MultipartMessages()
    long = MultipartMessage(2, "525555010123")
    for number in range(2):
        multiparts.add(f"p{number}", number, long)
    multiparts.add("p1", 0, MultipartMessage(2, PHONE))
    assert multiparts.find("p1", "5215555010123") is long


def test_one_undelivered_part_makes_the_message_undelivered() -> None:
    multiparts = known()
    assert on_part_receipt(multiparts, "p0", DELIVERED) is None
    assert on_part_receipt(multiparts, "p1", UNDELIVERED) == ("p0", UNDELIVERED)


def test_a_message_sent_in_part_is_undelivered_by_its_first_receipt() -> None:
    multiparts = known(2)
    long = multiparts.find("p1", PHONE)
    assert long is not None
    long.partly_sent = True
    assert on_part_receipt(multiparts, "p1", DELIVERED) == ("p0", UNDELIVERED)


def doubtful(accepted: int, total: int = 3, *, partly_sent: bool = False) -> MultipartMessages:
    """One message in doubt, of whose parts the first ones were accepted."""
    multiparts, long = MultipartMessages(), MultipartMessage(total, PHONE)
    for number in range(accepted):
        multiparts.add(f"p{number}", number, long)
    assert long.is_open
    long.in_doubt, long.partly_sent = True, partly_sent
    assert not long.is_open
    return multiparts


@pytest.mark.parametrize("status", [DELIVERED, UNDELIVERED, SENT])
def test_every_receipt_of_a_message_in_doubt_counts(status: MessageStatus) -> None:
    multiparts = doubtful(2)
    assert on_part_receipt(multiparts, "p1", status) == ("p0", status)
    assert on_part_receipt(multiparts, "p0", status) == ("p0", status)
    multiparts = doubtful(2, partly_sent=True)
    assert on_part_receipt(multiparts, "p1", status) == ("p0", SENT if status == SENT else UNDELIVERED)


def test_a_message_in_doubt_stays_undelivered_when_one_of_its_parts_is() -> None:
    multiparts = doubtful(2)
    assert on_part_receipt(multiparts, "p1", UNDELIVERED) == ("p0", UNDELIVERED)
    assert on_part_receipt(multiparts, "p0", DELIVERED) == ("p0", UNDELIVERED)


def test_a_late_response_makes_a_message_wait_for_all_its_parts() -> None:
    multiparts = doubtful(1, total=2)
    assert on_part_receipt(multiparts, "p0", DELIVERED) == ("p0", DELIVERED)
    long = multiparts.find("p0", PHONE)
    assert long is not None
    multiparts.add("p1", 1, long)
    long.in_doubt = False
    assert on_part_receipt(multiparts, "p1", SENT) is None
    assert on_part_receipt(multiparts, "p1", DELIVERED) == ("p0", DELIVERED)


@pytest.mark.parametrize("repeated", ["p0", "p1"])
def test_a_receipt_that_is_repeated_does_not_make_a_message_delivered(repeated: str) -> None:
    multiparts = known(3)
    for part, status in (("p0", DELIVERED), ("p1", DELIVERED), ("p2", UNDELIVERED)):
        on_part_receipt(multiparts, part, status)
    again = on_part_receipt(multiparts, repeated, DELIVERED)
    assert again is None or again[0] != "p0"


def test_one_corrected_part_of_several_undelivered_ones_is_not_enough() -> None:
    multiparts = known(2)
    for part in ("p0", "p1"):
        assert on_part_receipt(multiparts, part, UNDELIVERED) == ("p0", UNDELIVERED)
    assert on_part_receipt(multiparts, "p0", DELIVERED) is None
    assert on_part_receipt(multiparts, "p1", DELIVERED) == ("p0", DELIVERED)


def test_a_mark_is_settled_when_everything_begun_before_it_has_ended() -> None:
    multiparts = MultipartMessages()
    first = multiparts.begin([PHONE])
    mark = multiparts.now()
    assert not multiparts.settled(mark)
    multiparts.begin([PHONE])
    multiparts.end(first)
    assert multiparts.settled(mark)


def test_only_a_receipt_that_may_be_for_an_open_submit_waits_for_its_end() -> None:
    multiparts = MultipartMessages()
    receipt = Receipt("p0", DELIVERED, None, NOW)
    ticket = multiparts.begin([PHONE, "525555010123"])
    phones = (PHONE, PHONE[3:], "5215555010123", None, OTHER)
    waits = [multiparts.may_be_open(receipt._replace(phone=phone)) for phone in phones]
    assert waits == [True, True, True, True, False]
    multiparts.end(ticket)
    assert not multiparts.may_be_open(receipt._replace(phone=PHONE))


def test_an_id_is_another_part_for_another_phone() -> None:
    multiparts = known(2)
    assert multiparts.find("p1", OTHER) is None
    assert multiparts.find("p1", None) is multiparts.find("p1", PHONE)
    again = MultipartMessage(2, OTHER)
    multiparts.add("p1", 0, again)
    assert multiparts.find("p1", OTHER) is again
    assert multiparts.find("p1", None) is None, "both may be meant"
    assert on_part_receipt(multiparts, "p0", DELIVERED) is None
    assert on_part_receipt(multiparts, "p1", DELIVERED) == ("p0", DELIVERED)


def test_a_part_is_known_by_a_national_number_if_no_other_phone_has_the_id() -> None:
    multiparts = known(2)
    national = PHONE.removeprefix("254")
    assert multiparts.find("p1", national) is multiparts.find("p1", PHONE)
    assert multiparts.find("p1", OTHER.removeprefix("254")) is None
    multiparts.add("p1", 0, MultipartMessage(2, f"255{national}"))
    assert multiparts.find("p1", national) is None


def test_one_id_for_all_parts_has_one_receipt() -> None:
    multiparts, long = MultipartMessages(), MultipartMessage(3, PHONE)
    for number in range(3):
        multiparts.add("same", number, long)
    assert on_part_receipt(multiparts, "same", DELIVERED) == ("same", DELIVERED)


def test_an_id_used_again_when_all_parts_had_their_receipts_is_another_message() -> None:
    multiparts = known(2)
    assert on_part_receipt(multiparts, "p0", DELIVERED) is None
    assert on_part_receipt(multiparts, "p1", DELIVERED) == ("p0", DELIVERED)
    assert on_part_receipt(multiparts, "p1", UNDELIVERED) == ("p1", UNDELIVERED)


def test_the_parts_that_were_used_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.carriers.smpp.multipart.MAX_TRACKED_PARTS", 3)
    multiparts = known(3)
    multiparts.add("p0", 0, MultipartMessage(2, OTHER))
    multiparts.add("new", 1, MultipartMessage(2, OTHER))
    assert multiparts.find("p0", PHONE) is not None
    assert multiparts.find("p1", PHONE) is None
