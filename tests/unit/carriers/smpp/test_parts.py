from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.carriers.smpp.alphabets import encode
from shared.carriers.smpp.constants import Command, Tag
from shared.carriers.smpp.pdu import Message, read_message, split_udh
from shared.sms import gsm7
from shared.sms.segments import segment, split, text_problem
from tests.unit.carriers.smpp.making import NOW, config, message_group
from worker.carriers.smpp.parts import References, Unsendable, cut
from worker.carriers.smpp.submission import Submission
from worker.carriers.smpp.submit_encoder import source_address, validity

texts = st.text(st.sampled_from("aZ €{\n@é") | st.sampled_from("aя😀"), min_size=1, max_size=500).filter(
    lambda text: text_problem(text) is None
)


def submits(text: str, style: str = "udh", **settings: object) -> list[Message]:
    """The submit_sm's of one message."""
    submission = Submission(
        config(long_messages=style, **settings), References(), [message_group(text, ["254711000000"])]
    )
    return [read_message(Command.SUBMIT_SM, body) for body in submission.bodies]


def read(octets: bytes, data_coding: int) -> str:
    """The text as its data_coding says, whatever it looks like."""
    return octets.decode("utf-16-be") if data_coding == 8 else gsm7.decode(octets)


def test_it_works() -> None:
    (message,) = submits("Hi €")
    assert message.destination == "254711000000"
    assert message.short_message == b"Hi \x1b\x65"
    assert (message.source, message.source_ton, message.source_npi) == ("ACME", 5, 0)
    assert (message.data_coding, message.esm_class, message.registered_delivery) == (0, 0, 1)


@given(texts)
def test_parts_with_a_header_are_cut_where_they_are_counted(text: str) -> None:
    messages = submits(text)
    assert len(messages) == segment(text).count
    parts = []
    for number, message in enumerate(messages, 1):
        header, octets = split_udh(message)
        if len(messages) > 1:
            assert header[:2] == b"\0\3"
            assert tuple(header[3:]) == (len(messages), number)
            assert header[2] == split_udh(messages[0])[0][2]
        parts.append(read(octets, message.data_coding))
    assert parts == split(text)


@given(texts)
def test_parts_with_parameters_are_cut_where_they_are_counted(text: str) -> None:
    messages = submits(text, "sar")
    assert [read(message.short_message, message.data_coding) for message in messages] == split(text)
    if len(messages) > 1:
        assert {message.tlvs[Tag.SAR_TOTAL_SEGMENTS][0] for message in messages} == {len(messages)}
        assert [message.tlvs[Tag.SAR_SEGMENT_SEQNUM][0] for message in messages] == list(range(1, len(messages) + 1))
        assert len({message.tlvs[Tag.SAR_MSG_REF_NUM] for message in messages}) == 1


@given(texts)
def test_a_payload_is_one_submit(text: str) -> None:
    (message,) = submits(text, "payload")
    assert read(message.short_message, message.data_coding) == text
    assert (Tag.MESSAGE_PAYLOAD in message.tlvs) == (segment(text).count > 1)


def test_long_messages_to_one_phone_have_references_of_their_own() -> None:
    references = References()
    first = [references.next("1") for _ in range(300)]
    references.next("2")
    assert len({number & 0xFF for number in first[:256]}) == 256
    assert len(set(first)) == 300


def test_a_text_outside_the_alphabet_is_sent_as_ucs2_if_that_costs_no_more() -> None:
    (message,) = submits("5 €", alphabet="latin1", data_coding=0)
    assert (message.data_coding, message.short_message) == (8, encode("5 €", "ucs2"))


@pytest.mark.parametrize("alphabet", ["latin1", "ascii"])
def test_a_text_outside_the_alphabet_may_fill_one_message_in_ucs2(alphabet: str) -> None:
    text = "€" + "a" * 69
    (message,) = submits(text, alphabet=alphabet)
    assert (message.data_coding, message.short_message) == (8, encode(text, "ucs2"))


def test_a_text_that_would_cost_more_than_was_paid_is_not_sent() -> None:
    with pytest.raises(Unsendable):
        cut(config(alphabet="latin1"), "€" * 71, 1)
    submission = Submission(config(alphabet="ascii"), References(), [message_group("é" * 71, ["254711000000"])])
    assert submission.bodies == []
    assert [outcome.error for outcome in submission.outcomes()] == ["not_in_alphabet"]


@pytest.mark.parametrize(
    ("sender", "address"),
    [
        ("ACME", (5, 0, "ACME")),
        ("21234", (3, 0, "21234")),
        ("254711000000", (1, 1, "254711000000")),
        ("+254711000000", (1, 1, "254711000000")),
        ("My Shop", (5, 0, "My Shop")),
    ],
)
def test_the_type_of_a_sender_is_derived_from_it(sender: str, address: tuple[int, int, str]) -> None:
    assert source_address(config(), sender) == address


@pytest.mark.parametrize("sender", ["", "a" * 21, "café", "a\0b", "٣٤٥"])
def test_a_sender_that_fits_no_address_is_rejected(sender: str) -> None:
    submission = Submission(
        config(), References(), [message_group("x", ["254711000000"], sender), message_group("y", ["254722000000"])]
    )
    assert len(submission.bodies) == 1
    submission.responses = ["id"]
    refused, accepted = submission.outcomes()
    assert (refused.response, refused.error) == ("rejected", "invalid_sender")
    assert accepted.reference == "id"


@pytest.mark.parametrize(
    ("kind", "left", "written"),
    [
        ("relative", timedelta(hours=72), "000003000000000R"),
        ("relative", timedelta(hours=1, minutes=2, seconds=3), "000000010203000R"),
        ("relative", timedelta(seconds=-5), "000000000100000R"),
        ("relative", timedelta(days=90), "000030000000000R"),
        ("absolute", timedelta(hours=1), "260504133015000+"),
        ("none", timedelta(hours=1), ""),
    ],
)
def test_validity_is_written_as_the_standard_says(kind: str, left: timedelta, written: str) -> None:
    assert validity(config(validity=kind), NOW + left, NOW) == written


def test_everything_that_a_carrier_asks_for_is_written() -> None:
    settings = {"service_type": "CMT", "protocol_id": 65, "priority": 2, "registered_delivery": 17}
    (message,) = submits("Hi", **settings, destination_ton=2, destination_npi=6, tlvs={"0x1401": "78", "0x1402": ""})
    assert {name: getattr(message, name) for name in settings} == settings
    assert (message.destination_ton, message.destination_npi) == (2, 6)
    assert message.tlvs == {0x1401: b"x", 0x1402: b""}


@pytest.mark.parametrize("text", ["Hi", "x" * 300], ids=["one part", "two parts"])
def test_parameters_of_a_customer_are_passed_on_if_configured(text: str) -> None:
    group = message_group(text, ["254711000000"], tlvs={0x1400: b"own", 0x1402: b"other"})
    settings = config(pass_tlvs=[0x1400, 0x1401], tlvs={"0x1400": "78", "0x1403": "79"})
    read = [read_message(Command.SUBMIT_SM, body) for body in Submission(settings, References(), [group]).bodies]
    assert [message.tlvs for message in read] == [{0x1400: b"own", 0x1403: b"y"}] * len(read)


def test_our_message_id_is_sent_if_configured() -> None:
    group = message_group("Hi", ["254711000000", "254722000000"])
    submission = Submission(config(message_id_tag=0x1400, tlvs={"0x1401": "78"}), References(), [group])
    read = [read_message(Command.SUBMIT_SM, body) for body in submission.bodies]
    assert [message.tlvs for message in read] == [{0x1401: b"x", 0x1400: each.bytes} for each in group.ids]
