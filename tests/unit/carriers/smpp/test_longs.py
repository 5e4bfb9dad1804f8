import pytest

from shared.lifecycle import MessageStatus
from tests.unit.carriers.smpp.making import NOW
from worker.carriers.base import Receipt
from worker.carriers.smpp.longs import Long, Longs

DELIVERED, UNDELIVERED, SENT = MessageStatus.DELIVERED, MessageStatus.UNDELIVERED, MessageStatus.SENT


PHONE, OTHER = "254711000000", "254711000001"


def known(total: int = 3) -> Longs:
    """One message, its parts p0, p1, …"""
    longs, long = Longs(), Long(total, PHONE)
    for number in range(total):
        longs.add(f"p{number}", number, long)
    return longs


def hear(longs: Longs, part: str, status: MessageStatus, error: str | None = None) -> tuple[str, str] | None:
    long = longs.find(part, PHONE)
    assert long is not None
    said = long.hear(Receipt(part, status, error, NOW))
    return None if said is None else (said.reference, said.status)


def test_it_works() -> None:
    longs = known()
    assert hear(longs, "p2", DELIVERED) is None
    assert hear(longs, "p0", DELIVERED) is None
    assert hear(longs, "p1", DELIVERED) == ("p0", DELIVERED)


def test_one_part_twice_is_one_part() -> None:
    longs = known(2)
    assert hear(longs, "p0", DELIVERED) is None
    assert hear(longs, "p0", DELIVERED) is None
    assert hear(longs, "p1", DELIVERED) == ("p0", DELIVERED)


def test_one_part_undelivered_is_the_message_undelivered() -> None:
    longs = known()
    assert hear(longs, "p0", DELIVERED) is None
    assert hear(longs, "p1", UNDELIVERED) == ("p0", UNDELIVERED)


def test_a_part_on_its_way_says_nothing() -> None:
    assert hear(known(), "p1", SENT) is None


def test_a_message_sent_in_part_is_undelivered_by_its_first_receipt() -> None:
    longs = known(2)
    long = longs.find("p1", PHONE)
    assert long is not None
    long.partly_sent = True
    assert hear(longs, "p1", DELIVERED) == ("p0", UNDELIVERED)


def test_a_mark_is_settled_when_what_had_begun_has_ended() -> None:
    longs = Longs()
    first = longs.begin()
    mark = longs.now()
    assert not longs.settled(mark)
    longs.begin()
    longs.end(first)
    assert longs.settled(mark)


def test_what_is_not_a_part_is_not_found() -> None:
    assert known().find("other", PHONE) is None


def test_an_id_is_another_part_for_another_phone() -> None:
    longs = known(2)
    assert longs.find("p1", OTHER) is None
    assert longs.find("p1", None) is longs.find("p1", PHONE)
    again = Long(2, OTHER)
    longs.add("p1", 0, again)
    assert longs.find("p1", OTHER) is again
    assert longs.find("p1", None) is None, "both may be meant"
    assert hear(longs, "p0", DELIVERED) is None
    assert hear(longs, "p1", DELIVERED) == ("p0", DELIVERED)


def test_one_id_for_all_parts_has_one_receipt() -> None:
    longs, long = Longs(), Long(3, PHONE)
    for number in range(3):
        longs.add("same", number, long)
    assert hear(longs, "same", DELIVERED) == ("same", DELIVERED)


def test_an_id_used_again_when_all_parts_had_their_receipts_is_another_message() -> None:
    longs = known(2)
    assert hear(longs, "p0", DELIVERED) is None
    assert hear(longs, "p1", DELIVERED) == ("p0", DELIVERED)
    assert hear(longs, "p1", UNDELIVERED) == ("p1", UNDELIVERED)


def test_the_parts_that_were_used_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.carriers.smpp.longs.REMEMBERED", 3)
    longs = known(3)
    longs.add("p0", 0, Long(2, OTHER))
    longs.add("new", 1, Long(2, OTHER))
    assert longs.find("p0", PHONE) is not None
    assert longs.find("p1", PHONE) is None
