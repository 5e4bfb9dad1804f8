"""What the responses to a submission's PDUs come to."""

from uuid import UUID

import pytest

from shared.carriers.smpp.constants import UDH_INDICATOR, Command, Status, Tag
from shared.carriers.smpp.pdu import read_message
from shared.carriers.smpp.raw_part import RawPart
from tests.unit.carriers.smpp.making import config, message_group
from worker.carriers.base import Outcome, ResponseKind, unsubmitted
from worker.carriers.smpp.parts import References
from worker.carriers.smpp.status import NOT_CONNECTED, WINDOW_FULL, CarrierResponse, outcome_of
from worker.carriers.smpp.submission import Submission

LONG = "x" * 400  # three parts
THROTTLED, BUSY, BAD = int(Status.ESME_RTHROTTLED), int(Status.ESME_RSYSERR), int(Status.ESME_RINVDSTADR)
FULL = int(Status.ESME_RMSGQFUL)


def answered(*responses: CarrierResponse) -> Submission:
    """A message in three parts, answered so."""
    submission = Submission(config(), References(), [message_group(LONG, ["254711000000"])])
    submission.responses = list(responses)
    return submission


def test_it_works() -> None:
    submission = Submission(config(), References(), [message_group("Hi", ["254711000000", "254722000000"])])
    submission.responses = ["a1", "a2"]
    assert submission.outcomes() == [Outcome(ResponseKind.ACCEPTED, "a1"), Outcome(ResponseKind.ACCEPTED, "a2")]


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ("abc", Outcome(ResponseKind.ACCEPTED, "abc")),
        ("", Outcome(ResponseKind.ACCEPTED)),
        (None, Outcome(ResponseKind.IN_DOUBT, error="no_response")),
        (0x58, Outcome(ResponseKind.THROTTLED, error="ESME_RTHROTTLED")),
        (0x14, Outcome(ResponseKind.POSTPONED, error="ESME_RMSGQFUL")),
        (0x0B, Outcome(ResponseKind.REJECTED, error="ESME_RINVDSTADR")),
        (0x08, Outcome(ResponseKind.FAILED, error="ESME_RSYSERR")),
        (0x03, Outcome(ResponseKind.FAILED, error="ESME_RINVCMDID")),  # suddenly for each submit: node-smpp #223
        (0x53, Outcome(ResponseKind.FAILED, error="ESME_RINVSYSTYP")),
        (0x4FF, Outcome(ResponseKind.FAILED, error="status_0x000004ff")),
        (NOT_CONNECTED, unsubmitted("not_connected")),
        (WINDOW_FULL, unsubmitted("window_full")),
    ],
)
def test_each_response_means_what_the_table_says(response: CarrierResponse, outcome: Outcome) -> None:
    assert outcome_of(response) == outcome


@pytest.mark.parametrize(
    ("responses", "outcome"),
    [
        (("a", "b", "c"), Outcome(ResponseKind.ACCEPTED, "a")),
        (("a", None, "c"), Outcome(ResponseKind.IN_DOUBT, error="no_response")),
        ((None, None, None), Outcome(ResponseKind.IN_DOUBT, error="no_response")),
        ((BAD, None, BAD), Outcome(ResponseKind.IN_DOUBT, error="no_response")),
        ((BAD, "b", "c"), Outcome(ResponseKind.IN_DOUBT, error="partly_sent")),
        (("a", "b", THROTTLED), Outcome(ResponseKind.IN_DOUBT, error="partly_sent")),
        (("a", BAD, None), Outcome(ResponseKind.IN_DOUBT, error="partly_sent")),
        ((None, "b", THROTTLED), Outcome(ResponseKind.IN_DOUBT, error="partly_sent")),
        ((None, NOT_CONNECTED, "c"), Outcome(ResponseKind.IN_DOUBT, error="partly_sent")),
        ((THROTTLED, BAD, THROTTLED), Outcome(ResponseKind.REJECTED, error="ESME_RINVDSTADR")),
        ((THROTTLED, BUSY, THROTTLED), Outcome(ResponseKind.FAILED, error="ESME_RSYSERR")),
        ((FULL, FULL, FULL), Outcome(ResponseKind.POSTPONED, error="ESME_RMSGQFUL")),
        ((FULL, THROTTLED, NOT_CONNECTED), Outcome(ResponseKind.POSTPONED, error="ESME_RMSGQFUL")),
        (("a", FULL, FULL), Outcome(ResponseKind.IN_DOUBT, error="partly_sent")),
        ((THROTTLED, THROTTLED, NOT_CONNECTED), Outcome(ResponseKind.THROTTLED, error="ESME_RTHROTTLED")),
    ],
)
def test_parts_make_one_outcome(responses: tuple[CarrierResponse, ...], outcome: Outcome) -> None:
    assert answered(*responses).outcomes() == [outcome]


@pytest.mark.parametrize(
    ("responses", "left"),
    [
        (("a", "b", "c"), []),
        (("a", THROTTLED, BUSY), [1, 2]),
        (("a", "b", FULL), [2]),
        ((NOT_CONNECTED, "b", "c"), [0]),
        ((THROTTLED, THROTTLED, THROTTLED), []),  # none left us: it goes again as a whole
        (("a", None, THROTTLED), []),
        (("a", BAD, THROTTLED), []),
    ],
)
def test_only_parts_that_can_complete_a_message_are_submitted_again(
    responses: tuple[CarrierResponse, ...], left: list[int]
) -> None:
    assert answered(*responses).left_over() == left


def test_a_late_response_names_its_message() -> None:
    message_groups = [
        message_group("a", ["254711000001"]),
        message_group(LONG, ["254711000003"]),
        message_group("b", ["254711000005"]),
    ]
    submission = Submission(config(), References(), message_groups)
    submission.responses = ["id0", "id1", None, None, None]

    def late(index: int, response: CarrierResponse) -> tuple[UUID, Outcome] | None:
        return submission.late(index, response)

    assert late(2, "id2") is None
    assert late(3, "id3") == (message_groups[1].ids[0], Outcome(ResponseKind.ACCEPTED, "id1"))
    assert late(4, BAD) == (message_groups[2].ids[0], Outcome(ResponseKind.REJECTED, error="ESME_RINVDSTADR"))


@pytest.mark.parametrize("last", ["c", BAD])
def test_a_message_is_sent_in_part_as_soon_as_a_late_response_shows_it(last: CarrierResponse) -> None:
    submission = answered("a", None, None)
    submission.outcomes()
    assert submission.multiparts is not None
    assert submission.multiparts[0] is not None
    long, _ = submission.multiparts[0]
    assert (long.in_doubt, long.partly_sent) == (True, False)
    assert submission.late(1, BAD) is None
    assert (long.in_doubt, long.partly_sent) == (True, True)
    response = submission.late(2, last)
    assert response is not None
    assert response.outcome == Outcome(ResponseKind.IN_DOUBT, error="partly_sent")
    assert (long.in_doubt, long.partly_sent) == (True, True)


@pytest.mark.parametrize("style", ["udh", "sar", "payload"])
def test_each_part_carries_the_end_of_its_messages_id(style: str) -> None:
    group = message_group(LONG, ["254711000003", "254711000004"])
    submission = Submission(config(user_message_reference=True, long_messages=style), References(), [group])
    found = [read_message(Command.SUBMIT_SM, body) for body in submission.bodies]
    assert {(each.destination, each.tlvs[Tag.USER_MESSAGE_REFERENCE]) for each in found} == {
        (phone, identity.bytes[-2:]) for phone, identity in zip(group.phones, group.ids, strict=True)
    }


HEADER = bytes((5, 0, 3, 7, 2, 1))


@pytest.mark.parametrize(
    ("part", "alphabet", "octets", "coding"),
    [
        (RawPart(HEADER + b"\x1bexy", 0, UDH_INDICATOR), "gsm7", HEADER + b"\x1bexy", 0),
        (RawPart(HEADER + b"\x04\x1f\xd8\x3d", 8, UDH_INDICATOR), "gsm7", HEADER + b"\x04\x1f\xd8\x3d", 8),
        (RawPart(HEADER + b"\x7f\x7b", 0, UDH_INDICATOR), "latin1", HEADER + "àä".encode("latin-1"), 3),
        (RawPart(b"\0\xff", 4, tlvs={Tag.SAR_TOTAL_SEGMENTS: b"\2"}), "gsm7", b"\0\xff", 4),
    ],
    ids=["gsm7", "half a character", "another alphabet", "binary"],
)
def test_a_part_goes_on_as_it_came(part: RawPart, alphabet: str, octets: bytes, coding: int) -> None:
    group = message_group("shown", ["254711000000"], segments=1, part=part)
    submission = Submission(config(alphabet=alphabet, tlvs={"0x1401": "6869"}), References(), [group])
    message = read_message(Command.SUBMIT_SM, submission.bodies[0])
    assert (message.short_message, message.data_coding, message.esm_class) == (octets, coding, part.esm_class)
    assert message.tlvs == {0x1401: b"hi", **part.tlvs}


def test_a_part_that_the_carrier_has_no_letters_for_is_refused() -> None:
    group = message_group("shown", ["254711000000"], part=RawPart(HEADER + b"\x1be", 0, UDH_INDICATOR))
    submission = Submission(config(alphabet="latin1"), References(), [group])
    assert submission.outcomes() == [Outcome(ResponseKind.REJECTED, error="not_in_alphabet")]
