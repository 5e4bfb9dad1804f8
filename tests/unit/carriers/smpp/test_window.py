"""The unanswered PDUs of a connection: their numbers, and which may have left."""

import pytest

from shared.carriers.smpp.constants import MAX_SEQUENCE
from shared.carriers.smpp.pdu import HEADER
from tests.unit.carriers.smpp.making import config, message_group
from worker.carriers.smpp.parts import References
from worker.carriers.smpp.submission import Submission
from worker.carriers.smpp.window import Windows, pdu_parts, untouched_of


def submission(count: int) -> Submission:
    return Submission(config(), References(), [message_group("x", [f"2547{number:08d}" for number in range(count)])])


def test_sequence_numbers_begin_again_and_none_is_beyond_the_standard() -> None:
    windows = Windows(10)
    windows.next_sequence(MAX_SEQUENCE - 2)
    window = windows.open(submission(3), range(3))
    assert window is not None
    assert window.first == 1
    assert windows.next_sequence() == 4


@pytest.mark.parametrize(
    ("whole", "more", "untouched"), [(0, 0, 3), (0, 1, 2), (1, 0, 2), (1, 20, 1), (2, 1, 0), (3, 0, 0)]
)
def test_a_partly_written_pdu_may_have_left(whole: int, more: int, untouched: int) -> None:
    window = Windows(10).open(submission(3), range(3))
    assert window is not None
    pieces = pdu_parts(window)
    sizes = [sum(map(len, pieces[at : at + 3])) for at in range(0, 9, 3)]
    assert sizes == [HEADER.unpack_from(b"".join(pieces[at : at + 3]))[0] for at in range(0, 9, 3)]
    assert untouched_of(pieces, sum(sizes[:whole]) + more) == untouched
