"""Encodes submit_sm PDUs: what the messages of a group share once, and then each phone number.

A PDU consists of head, sequence number and body, so that each message costs only a concatenation.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from struct import Struct

from shared.carriers.smpp.constants import UDH_INDICATOR, Command, Tag
from shared.carriers.smpp.pdu import HEADER_SIZE, Message, message_prefix, message_suffix, tlv
from worker.carriers.base import SHORT_CODE_DIGITS, MessageGroup
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.parts import Text

_HEAD = Struct(">III")
MIN_VALIDITY, MAX_VALIDITY = 60, 30 * 24 * 3600
"""Seconds."""


def head(body_size: int) -> bytes:
    """The first 12 octets of a submit_sm: its header without the sequence number."""
    return _HEAD.pack(HEADER_SIZE + body_size, Command.SUBMIT_SM, 0)


def shared_fields(config: SmppConfig, message_group: MessageGroup, text: Text, now: datetime) -> Message:
    """The fields that all submit_sm PDUs of a message group share, with the first part's text.

    Raises ValueError if the sender is not a valid source address.
    """
    ton, npi, source = source_address(config, message_group.sender_id)
    given = message_group.tlvs
    tlvs = config.parameters | {tag: given[tag] for tag in config.pass_tlvs if tag in given}
    octets = text.octets[0] if len(text.octets) == 1 else b""
    if config.long_messages == "payload" and message_group.segments > 1:
        tlvs[Tag.MESSAGE_PAYLOAD] = octets
        octets = b""
    return Message(
        source=source,
        destination="",
        short_message=octets,
        data_coding=text.data_coding,
        registered_delivery=config.registered_delivery,
        service_type=config.service_type,
        source_ton=ton,
        source_npi=npi,
        destination_ton=config.destination_ton,
        destination_npi=config.destination_npi,
        protocol_id=config.protocol_id,
        priority=config.priority,
        validity=validity(config, message_group.expires_at, now),
        tlvs=tlvs,
    )


def bodies_of(message: Message, phones: list[str]) -> list[bytes]:
    """The bodies of single-part messages."""
    prefix, suffix = message_prefix(message), message_suffix(message)
    return [prefix + phone.encode() + suffix for phone in phones]


class PartEncoder:
    """Encodes a multipart message's parts once for all phones: only phone and reference are inserted.

    With long_messages `udh` the header is that of 3GPP TS 23.040 §9.2.3.24.1 with an 8-bit reference: a 16-bit one
    would leave a part one septet fewer than segments are counted with.
    """

    def __init__(self, config: SmppConfig, message: Message, text: Text) -> None:
        self._prefix = message_prefix(message)
        self._reference_size = 2 if config.long_messages == "sar" else 1
        around = _around_sar if config.long_messages == "sar" else _around_udh
        total = len(text.octets)
        self._around = [around(message, octets, total, number) for number, octets in enumerate(text.octets, 1)]

    def bodies(self, phone: str, reference: int) -> list[bytes]:
        """The parts for one phone."""
        start = self._prefix + phone.encode()
        octets = (reference & (0xFFFF if self._reference_size == 2 else 0xFF)).to_bytes(self._reference_size, "big")
        return [start + before + octets + after for before, after in self._around]


def _around_udh(message: Message, octets: bytes, total: int, number: int) -> tuple[bytes, bytes]:
    """The octets before and after the reference, starting after the phone."""
    part = bytes((5, 0, 3, 0, total, number)) + octets
    whole = message_suffix(replace(message, esm_class=UDH_INDICATOR, short_message=part, tlvs={}))
    at = len(whole) - len(octets) - 3
    return whole[:at], whole[at + 1 :] + _tlvs(message.tlvs)


def _around_sar(message: Message, octets: bytes, total: int, number: int) -> tuple[bytes, bytes]:
    before = message_suffix(replace(message, short_message=octets)) + tlv(Tag.SAR_MSG_REF_NUM, b"\0\0")[:4]
    return before, _tlvs({Tag.SAR_TOTAL_SEGMENTS: bytes((total,)), Tag.SAR_SEGMENT_SEQNUM: bytes((number,))})


def _tlvs(tlvs: Mapping[int, bytes]) -> bytes:
    return b"".join(tlv(*each) for each in tlvs.items())


def source_address(config: SmppConfig, sender: str) -> tuple[int, int, str]:
    """Type of number, numbering plan and address of a sender. Raises ValueError if it is not a valid address."""
    number = sender.removeprefix("+")
    numeric = number.isascii() and number.isdigit()
    if not sender or not sender.isascii() or not sender.isprintable() or len(number if numeric else sender) > 20:
        raise ValueError("a source address has 1 to 20 ASCII characters")
    ton = config.source_ton
    if ton is None:
        ton = 5 if not numeric else 3 if len(number) <= SHORT_CODE_DIGITS else 1
    npi = config.source_npi if config.source_npi is not None else int(ton == 1)
    return ton, npi, number if numeric else sender


def validity(config: SmppConfig, expires_at: datetime, now: datetime) -> str:
    """The validity_period (SMPP 3.4 §7.1.1) of a message; at least a minute, at most 30 days."""
    if config.validity == "none":
        return ""
    left = min(max(int((expires_at - now).total_seconds()), MIN_VALIDITY), MAX_VALIDITY)
    if config.validity == "absolute":
        return f"{(now + timedelta(seconds=left)).astimezone(UTC):%y%m%d%H%M%S}000+"
    return _relative(left)


@lru_cache(maxsize=1024)
def _relative(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"0000{days:02d}{hours:02d}{minutes:02d}{seconds:02d}000R"
