"""Receipts of parts that came over the bind of another process."""

import pytest

from shared.lifecycle import MessageStatus
from tests.unit.carriers.smpp.making import NOW, KeptInbox
from worker.carriers.base import Receipt
from worker.carriers.smpp.multipart import MultipartMessage, MultipartMessages
from worker.carriers.smpp.other_binds import OtherBinds

PHONE = "254711000000"
DELIVERED = MessageStatus.DELIVERED


class Unmatched(KeptInbox):
    """The unmatched receipts, and what was recorded instead of them."""

    def __init__(self, *parts: str) -> None:
        super().__init__()
        self.found = {number: Receipt(part, DELIVERED, None, NOW, PHONE) for number, part in enumerate(parts)}
        self.replaced: list[tuple[list[int], list[str]]] = []
        self.fails = False

    def unmatched(self) -> dict[int, Receipt]:
        return self.found

    def replace_unmatched(self, numbers: list[int], receipts: list[Receipt]) -> None:
        """Record these."""
        if self.fails:
            raise OSError("the database is away")
        self.replaced.append((numbers, [receipt.reference for receipt in receipts]))


@pytest.fixture
def multiparts() -> MultipartMessages:
    made, long = MultipartMessages(), MultipartMessage(2, PHONE)
    for number in range(2):
        made.add(f"p{number}", number, long)
    return made


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.carriers.smpp.other_binds.LOOK_SECONDS", -1.0)


def look(multiparts: MultipartMessages, source: Unmatched) -> list[tuple[list[int], list[str]]]:
    OtherBinds(multiparts).look(source)
    return source.replaced


def test_it_works(multiparts: MultipartMessages) -> None:
    assert look(multiparts, Unmatched("other", "p1", "p0")) == [([1, 2], ["p0"])]


def test_a_repeated_receipt_is_left(multiparts: MultipartMessages) -> None:
    assert look(multiparts, Unmatched("p1")) == [([0], [])]
    assert look(multiparts, Unmatched("p1")) == []


@pytest.mark.parametrize("in_doubt", [True, None])
def test_the_receipts_of_a_message_that_is_not_accepted_are_left(
    multiparts: MultipartMessages, in_doubt: bool | None
) -> None:
    long = multiparts.find("p0", PHONE)
    assert long is not None
    long.in_doubt = in_doubt
    del long.ids[1]
    assert look(multiparts, Unmatched("p0", "p1")) == []


def test_receipts_that_could_not_be_recorded_are_found_again(multiparts: MultipartMessages) -> None:
    source = Unmatched("p0", "p1")
    source.fails = True
    assert look(multiparts, source) == []
    source.fails = False
    assert look(multiparts, source) == [([0, 1], ["p0"])]
