import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.carriers.smpp.constants import Command, Tag
from shared.carriers.smpp.pdu import (
    Bind,
    Malformed,
    Message,
    has_broken_rest,
    message_body,
    pdu,
    read_message,
    read_tlvs,
    tlv,
)

strings = st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=20)
octet = st.integers(0, 255)
messages = st.builds(
    Message,
    source=strings,
    destination=strings,
    short_message=st.binary(min_size=1, max_size=254),
    esm_class=octet,
    data_coding=octet,
    registered_delivery=octet,
    service_type=strings,
    source_ton=octet,
    source_npi=octet,
    destination_ton=octet,
    destination_npi=octet,
    protocol_id=octet,
    priority=octet,
    schedule=strings,
    validity=strings,
    tlvs=st.dictionaries(st.integers(0, 0xFFFF), st.binary(max_size=40), max_size=4),
)


def test_it_works() -> None:
    assert pdu(Command.ENQUIRE_LINK, 0, 7) == bytes.fromhex("00000010 00000015 00000000 00000007")


def test_a_submit_is_as_the_standard_lays_it_out() -> None:
    message = Message(source="A", destination="254", short_message=b"hi", source_ton=5, registered_delivery=1)
    assert message_body(message) == b"\0\5\0A\0\1\1254\0\0\0\0\0\0\1\0\0\0\2hi".replace(b"\1\1254", b"\1\1" + b"254")


@given(messages)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    assert read_message(Command.SUBMIT_SM, message_body(message)) == message


def test_a_payload_stands_in_for_the_short_message() -> None:
    message = Message("A", "1", tlvs={Tag.MESSAGE_PAYLOAD: b"long"})
    assert read_message(Command.DELIVER_SM, message_body(message)).short_message == b"long"


@given(messages, st.data())
def test_a_message_cut_off_anywhere_is_malformed(message: Message, data: st.DataObject) -> None:
    message.tlvs.clear()
    body = message_body(message)
    short = body[: data.draw(st.integers(0, len(body) - 1))]
    with pytest.raises(Malformed):
        read_message(Command.SUBMIT_SM, short)


@given(st.binary(max_size=60))
def test_any_octets_are_optional_parameters_and_a_rest(octets: bytes) -> None:
    found = read_tlvs(octets, 0)
    assert sum(4 + len(value) for value in found.values()) <= len(octets)


@pytest.mark.parametrize(
    ("end", "broken"),
    [
        (b"", False),
        (b"\0", False),
        (b"\0\0\0", False),
        (tlv(5, b"a") * 2, False),
        (b"\x14\x18\0\x08abc", True),
        (b"x", True),
    ],
)
def test_only_padding_may_follow_the_parameters(end: bytes, broken: bool) -> None:
    body = message_body(Message("1", "2", b"x", tlvs={5: b"whole"})) + end
    message = read_message(Command.DELIVER_SM, body)
    assert message.tlvs[5] == b"whole" and has_broken_rest(body, message) is broken


@pytest.mark.parametrize(("more", "broken"), [(0, False), (1, True)])
def test_so_many_parameters_are_read(more: int, broken: bool) -> None:
    body = message_body(Message("1", "2", b"x")) + tlv(5, b"") * (63 + more) + tlv(6, b"last")
    message = read_message(Command.SUBMIT_SM, body)
    assert ((6 in message.tlvs), has_broken_rest(body, message)) == (not broken, broken)


def test_neither_text_nor_phone_is_in_a_repr_or_an_error() -> None:
    message = Message("254711000000", "254722000000", b"my secret", tlvs={0x424: b"my secret"})
    assert "secret" not in repr(message)
    assert "2547" not in repr(message)
    assert "secret" not in repr(Bind("me", "my secret"))
    with pytest.raises(Malformed) as caught:
        read_message(Command.SUBMIT_SM, message_body(message)[:-20])
    assert "secret" not in str(caught.value)
