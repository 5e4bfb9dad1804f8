from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.carriers.smpp.constants import Command, Tag
from shared.carriers.smpp.pdu import Message, message_body, read_message
from shared.doubts.candidates import MessageCandidate
from shared.lifecycle import MessageStatus
from tests.harness.what_we_read import table
from tests.unit.carriers.smpp.making import NOW, USUAL, config, usual_body
from worker.carriers.base import Receipt
from worker.carriers.smpp.receipt import inbound, is_receipt, looks_like_receipt, read_receipt, usual_receipt


def read(text: str, tlvs: dict[int, bytes] | None = None, *, esm_class: int = 4, **settings: Any) -> Receipt | None:
    """The receipt in a deliver_sm with this text."""
    message = Message("254711000000", "ACME", text.encode("latin-1"), esm_class=esm_class, tlvs=tlvs or {})
    return read_receipt(config(**settings), message, NOW)


def receipt_of(text: str, tlvs: dict[int, bytes] | None = None, **more: Any) -> Receipt:
    """The same, where there is one."""
    receipt = read(text, tlvs, **more)
    assert receipt is not None
    return receipt


def test_it_works() -> None:
    done = datetime(2026, 5, 4, 12, 29, tzinfo=UTC)
    assert receipt_of(USUAL) == Receipt("0123456789", MessageStatus.DELIVERED, None, done, "254711000000", "ACME", 60)


@pytest.mark.parametrize(
    "text",
    [
        USUAL,
        "id:0123456789 sub:001 dlvrd:001 submit date:260504122801 done date:260504122900 stat:DELIVRD err:000 text:",
        "ID: 0123456789 SUB: 001 DLVRD: 001 SUBMIT DATE: 2605041228 DONE DATE: 2605041229 STAT: DELIVRD ERR: 000 TEXT:",
        "id:0123456789 stat:DELIVRD done date:2605041229",
        "stat:DELIVRD id:0123456789 done date:20260504122900 text:id:999 stat:REJECTD",
        "id:0123456789,stat:delivrd,done date:2605041229,err:0",
        "id=0123456789 stat=DELIVRD donedate=2605041229",
        "id:0123456789 sub:001 dlvrd:001 submit date:2605041228 done date:2605041229 stat:DELIVERED err:0",
        "Text first id:0123456789 status:DELIVRD error:000 done date:2026-05-04T12:29:00",
        "id:0123456789\nstat:DELIVRD\ndone date:2605041229\n",
        "submit date:2605041228 done date:2605041229 stat:DELIVRD id:0123456789",
    ],
)
def test_all_common_forms_are_read(text: str) -> None:
    receipt = receipt_of(text)
    assert (receipt.reference, receipt.status) == ("0123456789", MessageStatus.DELIVERED)
    assert receipt.done_at == datetime(2026, 5, 4, 12, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("DELIVRD", MessageStatus.DELIVERED),
        ("EXPIRED", MessageStatus.UNDELIVERED),
        ("UNDELIV", MessageStatus.UNDELIVERED),
        ("REJECTD", MessageStatus.UNDELIVERED),
        ("DELETED", MessageStatus.UNDELIVERED),
        ("UNKNOWN", MessageStatus.UNDELIVERED),
        ("ENROUTE", MessageStatus.SENT),
        ("ACCEPTD", MessageStatus.SENT),
    ],
)
def test_each_state_has_its_status(word: str, status: MessageStatus) -> None:
    receipt = receipt_of(f"id:1 sub:001 dlvrd:001 submit date:1 done date:1 stat:{word} err:042 text:")
    assert receipt.status == status
    assert receipt.error == (f"{word}:042" if status == MessageStatus.UNDELIVERED else None)


@pytest.mark.parametrize("word", ["DELIVRD\0", "DELIVRD.", "DELIVRD\0\0", '"DELIVRD"', "delivrd."])
@pytest.mark.parametrize("form", ["id:1 stat:{}", USUAL.replace("DELIVRD", "{}"), "id:1 stat:{} err:000"])
def test_what_is_around_a_state_does_not_matter(form: str, word: str) -> None:
    assert receipt_of(form.format(word)).status == MessageStatus.DELIVERED


@pytest.mark.parametrize(
    "word", ["PENDING", "SENT", "EN_ROUTE", "QUEUED", "ACKED", "BUFFRED", "BUFFERD", "ENQUEUE", "BUFFRED-1"]
)
def test_a_message_on_its_way_is_not_undelivered(word: str) -> None:
    assert receipt_of(f"id:1 stat:{word}").status == MessageStatus.SENT


@pytest.mark.parametrize("word", ["MAYBE", "DELIVER", "DLVRD", "002", "EN", "DELIVRD-NOT", "\0"])
@pytest.mark.parametrize("form", ["id:1 stat:{}", USUAL.replace("DELIVRD", "{}")])
def test_a_state_that_nobody_knows_is_no_receipt(form: str, word: str) -> None:
    assert read(form.format(word)) is None
    body = message_body(Message("254711000000", "ACME", form.format(word).encode(), esm_class=4))
    assert usual_receipt(config(), body, NOW) is None


def test_a_state_that_the_operator_has_explained_is_final() -> None:
    receipt = receipt_of("id:1 stat:BLOCKED err:000", error_codes={"BLOCKED": "absent_subscriber"})
    assert (receipt.status, receipt.error) == (MessageStatus.UNDELIVERED, "absent_subscriber=BLOCKED")


@pytest.mark.parametrize("name", ["MK:0001", "Absent", "5", "002", "UNDELIV-1", "NO-ROUTE:x"])
@pytest.mark.parametrize(("err", "suffix"), [("000", ""), ("011", ":011")])
def test_the_operator_may_explain_a_state_of_any_form(name: str, err: str, suffix: str) -> None:
    for stat in (name, name.upper(), name.lower()):
        text = f"id:1 sub:001 dlvrd:001 submit date:1 done date:1 stat:{stat} err:{err} text:"
        receipt = receipt_of(text, error_codes={name: "absent_subscriber"})
        assert (receipt.status, receipt.error) == (
            MessageStatus.UNDELIVERED,
            f"absent_subscriber={name}{suffix}",
        )


@pytest.mark.parametrize(
    ("stat", "status"),
    [("DELAYED", MessageStatus.SENT), ("7", MessageStatus.SENT), ("UNDELIV", MessageStatus.UNDELIVERED)],
)
@pytest.mark.parametrize("explained", [False, True])
def test_an_unknown_state_in_an_intermediate_notification_is_not_final(
    stat: str, status: MessageStatus, explained: bool
) -> None:
    codes = {stat: "carrier_error"} if explained else {}
    assert receipt_of(f"id:1 stat:{stat}", esm_class=0x20, error_codes=codes).status == status


@pytest.mark.parametrize(
    "text",
    [
        "id:1 submit date: done date: stat:DELIVRD err:000",
        "id:1 sub: dlvrd: submit date: done date: stat: DELIVRD err: text:x",
        "ID:1\nERR:\nSTAT:DELIVRD",
        "err: id:1 stat:DELIVRD",
    ],
)
def test_an_empty_field_has_no_value(text: str) -> None:
    receipt = receipt_of(text)
    assert (receipt.reference, receipt.status, receipt.precision) == ("1", MessageStatus.DELIVERED, None)


@pytest.mark.parametrize("identity", ["a\0b", "a\x07b", "a\x85b", "9" * 256])
def test_an_id_that_could_not_be_stored_is_no_id(identity: str) -> None:
    assert read(f"id:{identity} stat:DELIVRD") is None
    assert read(USUAL.replace("0123456789", identity)) is None
    if "\0" not in identity:
        assert read("stat:DELIVRD", {Tag.RECEIPTED_MESSAGE_ID: identity.encode("latin-1") + b"\0"}) is None
        assert read("id:1 stat:DELIVRD", {Tag.RECEIPTED_MESSAGE_ID: identity.encode("latin-1") + b"\0"}) is None


@pytest.mark.parametrize(("state", "status"), [(2, "delivered"), (5, "undelivered"), (8, "undelivered"), (1, "sent")])
def test_parameters_alone_are_enough(state: int, status: str) -> None:
    receipt = receipt_of("", {Tag.RECEIPTED_MESSAGE_ID: b"abc\0", Tag.MESSAGE_STATE: bytes((state,))})
    assert (receipt.reference, receipt.status) == ("abc", status)


@pytest.mark.parametrize("text", ["", "nothing", "id:5", "stat:DELIVRD", "text:id:5 stat:DELIVRD", "id:" + "9" * 300])
def test_a_text_without_an_id_or_a_state_is_not_a_receipt(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("identity", "form", "becomes"),
    [
        ("2748", {}, "2748"),
        ("ABC", {"receipt_id": "hex_to_decimal"}, "2748"),
        ("2748", {"receipt_id": "decimal_to_hex"}, "abc"),
        ("2748", {"receipt_id": "decimal_to_hex", "id_case": "upper", "id_width": 8}, "00000ABC"),
        ("000000ABC", {"id_zeros": "strip", "id_case": "lower"}, "abc"),
        ("not-hex", {"receipt_id": "hex_to_decimal"}, "not-hex"),
        ("0000", {"id_zeros": "strip"}, "0"),
    ],
)
def test_ids_take_the_declared_form(identity: str, form: dict[str, Any], becomes: str) -> None:
    assert receipt_of(f"id:{identity} stat:DELIVRD", **form).reference == becomes
    tlvs = {Tag.RECEIPTED_MESSAGE_ID: identity.encode() + b"\0"}
    assert receipt_of("stat:DELIVRD", tlvs, **form).reference == becomes


def test_what_fills_an_id_up_is_none_of_it() -> None:
    assert receipt_of("stat:DELIVRD", {Tag.RECEIPTED_MESSAGE_ID: b"A1B2C3  \0"}).reference == "A1B2C3"
    assert receipt_of("id:A1B2C3\0\0 sub:001 stat:DELIVRD").reference == "A1B2C3"


@pytest.mark.parametrize("header", [b"", b"\5\0\3\x2a\2\1", b"\6\x08\4\1\2\3\2"])
@pytest.mark.parametrize("charset", ["ascii", "utf-16-be"])
def test_a_receipt_may_have_the_header_of_its_message(header: bytes, charset: str) -> None:
    message = Message("254711000000", "ACME", header + USUAL.encode(charset), esm_class=0x44)
    receipt = read_receipt(config(), message, NOW)
    assert receipt is not None and receipt.reference == "0123456789"


def test_the_id_in_the_parameter_is_preferred_to_that_in_the_text() -> None:
    tlvs = {Tag.RECEIPTED_MESSAGE_ID: b"1234\0"}
    assert receipt_of("id:4660 stat:DELIVRD", tlvs, receipt_id="decimal_to_hex").reference == "1234"


def test_the_time_is_moved_from_the_carriers_zone() -> None:
    receipt = receipt_of(USUAL.replace("1229", "1529"), receipt_utc_offset=3)
    assert receipt.done_at == datetime(2026, 5, 4, 12, 29, tzinfo=UTC)


@pytest.mark.parametrize("date", ["2605041529", "1905041229", "2613451229", "0000000000", "junk", "9999999999"])
def test_an_impossible_time_becomes_now(date: str) -> None:
    assert receipt_of(USUAL.replace("2605041229", date)).done_at == NOW


@pytest.mark.parametrize(("source", "phone"), [("+254711000000", "254711000000"), ("ACME", None), ("9" * 20, None)])
def test_the_phone_is_read_only_if_the_source_is_one(source: str, phone: str | None) -> None:
    message = Message(source, "ACME", USUAL.encode(), esm_class=4)
    receipt = read_receipt(config(), message, NOW)
    assert receipt is not None
    assert receipt.phone == phone


@pytest.mark.parametrize(
    ("text", "esm_class", "like_receipt"),
    [
        (USUAL, 0, True),
        (USUAL, 4, False),
        ("id:1 stat:DELIVRD", 0, False),
        ("id:1 stat:DELIVRD err:000", 0, True),
        ("id:1 done date:2605041229 stat:UNDELIV", 0, True),
        ("id: 5 stat: ok err: none", 0, False),
        ("", 0, False),
    ],
)
def test_a_text_may_look_like_a_receipt(text: str, esm_class: int, like_receipt: bool) -> None:
    assert looks_like_receipt(Message("254711000000", "ACME", text.encode(), esm_class=esm_class)) is like_receipt


def test_a_phone_cannot_write_receipts() -> None:
    assert not is_receipt(Message("254711000000", "ACME", USUAL.encode(), esm_class=0))
    assert is_receipt(Message("254711000000", "ACME", b"", esm_class=0, tlvs={Tag.RECEIPTED_MESSAGE_ID: b"1\0"}))
    assert is_receipt(Message("254711000000", "ACME", USUAL.encode(), esm_class=0x44))


@pytest.mark.parametrize(
    ("message", "text", "part"),
    [
        (Message("254711000000", "21234", b"STOP"), "STOP", (None, 1, 1)),
        (Message("254711000000", "21234", b"\x05\0\3\x2a\2\1\x1b\x65", esm_class=0x40), "€", (0x2A, 2, 1)),
        (Message("1", "2", b"\6\x08\4\1\2\3\2\4\x41\x00\x42", esm_class=0x40, data_coding=8), "\u0441B", (0x102, 3, 2)),
    ],
)
def test_messages_from_phones_are_read(message: Message, text: str, part: tuple[int | None, int, int]) -> None:
    if part[1] == 3:
        message.short_message = b"\6\x08\4\1\2\3\2" + "\u0441B".encode("utf-16-be")
    got = inbound(config(), message)
    assert (got.text, (got.reference, got.total, got.number)) == (text, part)
    assert "254711000000" not in repr(got)


@pytest.mark.parametrize("row", table("Texts in message_payload"), ids=lambda row: row["Source"])
def test_a_text_in_the_payload_is_read(row: dict[str, str]) -> None:
    payload = bytes.fromhex(row["message_payload"].strip("-"))
    tlvs = {Tag.MESSAGE_PAYLOAD: payload} if payload else {}
    octets = bytes.fromhex(row["short_message"].strip("-"))
    body = message_body(Message("1", "2", octets, esm_class=int(row["esm_class"], 0), tlvs=tlvs))
    assert inbound(config(), read_message(Command.DELIVER_SM, body)).text == row["Text"]


def test_a_part_by_parameters_is_read() -> None:
    tlvs = {Tag.SAR_MSG_REF_NUM: b"\1\2", Tag.SAR_TOTAL_SEGMENTS: b"\3", Tag.SAR_SEGMENT_SEQNUM: b"\1"}
    got = inbound(config(), Message("1", "2", b"x", tlvs=tlvs))
    assert (got.reference, got.total, got.number) == (0x102, 3, 1)


@given(st.binary(min_size=1, max_size=3), st.integers(0, 200), st.booleans())
def test_both_parsers_give_the_same_receipt(noise: bytes, at: int, insert: bool) -> None:
    body = usual_body()
    body = body[:at] + noise + body[at if insert else at + len(noise) :]
    receipt = usual_receipt(config(), body, NOW)
    if receipt is not None:
        message = read_message(Command.DELIVER_SM, body)
        assert is_receipt(message)
        assert receipt == read_receipt(config(), message, NOW)


def test_a_receipt_is_for_the_sender_that_it_names_however_it_is_written() -> None:
    """Some carriers write + before both addresses, and some change the case of names."""
    for destination, sender in (("+254204000001", "254204000001"), ("acme", "ACME"), ("+ACME", "+ACME")):
        message = Message("254711000000", destination, USUAL.encode(), esm_class=4)
        usual = usual_receipt(config(), message_body(message), NOW)
        assert usual is not None and usual == read_receipt(config(), message, NOW)
        candidate = MessageCandidate(uuid4(), "254711000000", sender, NOW, MessageStatus.SENT, None, 1, False)
        assert candidate.sent_by(usual.sender_id) and not candidate.sent_by("other")
        assert usual.sender_id is not None and "+" not in usual.sender_id


def test_a_carriers_own_codes_are_explained() -> None:
    for err, error in (("042", "absent_subscriber=UNDELIV:042"), ("043", "UNDELIV:043")):
        text = f"id:1 sub:001 dlvrd:000 submit date:1 done date:1 stat:UNDELIV err:{err} text:"
        assert receipt_of(text, error_codes={"042": "absent_subscriber"}).error == error
