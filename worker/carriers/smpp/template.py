"""submit_sm's as bytes: all that a parcel's messages share is made once, and the phone is put between.

A PDU is three pieces, head, sequence number and body, so that a message costs a concatenation and no object of its own.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from struct import Struct

from shared.smpp.numbers import Command, Tag
from shared.smpp.pdu import HEADER_SIZE, Message, message_prefix, message_suffix
from worker.carriers.base import Parcel
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.parts import Text, joined_by

_HEAD = Struct(">III")
LONGEST_VALIDITY = timedelta(days=30)
SHORT_CODE = 8
"""Digits up to which a numeric sender is a short code."""


def head(body_size: int) -> bytes:
    """The first 12 octets of a submit_sm: all of its header but the sequence number."""
    return _HEAD.pack(HEADER_SIZE + body_size, Command.SUBMIT_SM, 0)


def template(config: SmppConfig, parcel: Parcel, text: Text, now: datetime) -> Message:
    """What all submit_sm's of a parcel share, with the text of the first part.

    Raises ValueError for a sender that cannot be a source address.
    """
    ton, npi, source = source_address(config, parcel.sender_id)
    tlvs = dict(config.tlvs)
    octets = text.octets[0] if len(text.octets) == 1 else b""
    if config.long_messages == "payload" and parcel.segments > 1:
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
        validity=validity(config, parcel.expires_at, now),
        tlvs=tlvs,
    )


def bodies_of(message: Message, phones: list[str]) -> list[bytes]:
    """The bodies of one-part messages."""
    prefix, suffix = message_prefix(message), message_suffix(message)
    return [prefix + phone.encode() + suffix for phone in phones]


def bodies_of_parts(config: SmppConfig, message: Message, text: Text, phone: str, reference: int) -> list[bytes]:
    """The bodies of the parts of one message."""
    before = message_prefix(message) + phone.encode()
    bodies = []
    for number, octets in enumerate(text.octets, 1):
        esm_class, header, tlvs = joined_by(config, reference, len(text.octets), number)
        part = replace(message, esm_class=esm_class, short_message=header + octets, tlvs={**message.tlvs, **tlvs})
        bodies.append(before + message_suffix(part))
    return bodies


def source_address(config: SmppConfig, sender: str) -> tuple[int, int, str]:
    """Type of number, numbering plan and address of a sender. Raises ValueError for one that no address can hold."""
    number = sender.removeprefix("+")
    numeric = number.isascii() and number.isdigit()
    if not sender or not sender.isascii() or not sender.isprintable() or len(number if numeric else sender) > 20:
        raise ValueError("a source address has 1 to 20 ASCII characters")
    ton = config.source_ton
    if ton is None:
        ton = 5 if not numeric else 3 if len(number) <= SHORT_CODE else 1
    npi = config.source_npi if config.source_npi is not None else int(ton == 1)
    return ton, npi, number if numeric else sender


def validity(config: SmppConfig, expires_at: datetime, now: datetime) -> str:
    """The validity_period (SMPP 3.4 §7.1.1) of a message; at least a minute, at most LONGEST_VALIDITY."""
    if config.validity == "none":
        return ""
    left = min(max(expires_at - now, timedelta(minutes=1)), LONGEST_VALIDITY)
    if config.validity == "absolute":
        return f"{(now + left).astimezone(UTC):%y%m%d%H%M%S}000+"
    minutes, seconds = divmod(left.seconds, 60)
    return f"0000{left.days:02d}{minutes // 60:02d}{minutes % 60:02d}{seconds:02d}000R"
