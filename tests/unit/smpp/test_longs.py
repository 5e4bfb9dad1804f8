from shared.lifecycle import MessageStatus
from tests.unit.smpp.making import NOW
from worker.carriers.base import Receipt
from worker.carriers.smpp.longs import Long, Longs

DELIVERED, UNDELIVERED, SENT = MessageStatus.DELIVERED, MessageStatus.UNDELIVERED, MessageStatus.SENT


def known(total: int = 3) -> Longs:
    """One message, its parts p0, p1, …"""
    longs, long = Longs(), Long(total)
    for number in range(total):
        longs.add(f"p{number}", number, long)
    return longs


def hear(longs: Longs, part: str, status: MessageStatus, error: str | None = None) -> tuple[str, str] | None:
    long = longs.find(part)
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
    long = longs.find("p1")
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
    assert known().find("other") is None
