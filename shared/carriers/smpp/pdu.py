"""PDUs of SMPP 3.4 as bytes: a header of four numbers (§3.2), a body of strings and numbers, optional parameters.

What comes from the other side is not trusted: every reader here raises `Malformed` and nothing else.
"""

from dataclasses import dataclass, field
from struct import Struct

from shared.carriers.smpp.numbers import UDH_INDICATOR, Command, Tag

HEADER = Struct(">IIII")
"""command_length, command_id, command_status, sequence_number."""
HEADER_SIZE = 16
MAX_PDU = 65_536
"""Octets of a PDU that are taken unless told otherwise; the longest of the standard has a payload of 64 kB."""
MAX_SHORT_MESSAGE = 254

_TLV = Struct(">HH")


class Malformed(ValueError):
    """A PDU that does not follow the standard. It never quotes what it read."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Body of a bind request. Its repr does not hold the password."""

    system_id: str
    password: str = field(repr=False)
    system_type: str = ""


@dataclass(slots=True)
class Message:
    """Body of a submit_sm, a deliver_sm or a data_sm. Its repr holds neither text nor phone, wherever they stand.

    Not frozen, as it is filled in as it is read, and a frozen one takes three times as long to make.
    """

    source: str = field(repr=False)
    destination: str = field(repr=False)
    short_message: bytes = field(default=b"", repr=False)
    """As on the wire: with its user data header; from message_payload where that is used."""
    esm_class: int = 0
    data_coding: int = 0
    registered_delivery: int = 0
    service_type: str = field(default="", repr=False)
    source_ton: int = 0
    source_npi: int = 0
    destination_ton: int = 1
    destination_npi: int = 1
    protocol_id: int = 0
    priority: int = 0
    schedule: str = field(default="", repr=False)
    validity: str = field(default="", repr=False)
    tlvs: dict[int, bytes] = field(default_factory=dict, repr=False)


def pdu(command: int, status: int, sequence: int, body: bytes = b"") -> bytes:
    """A whole PDU."""
    return HEADER.pack(HEADER_SIZE + len(body), command, status, sequence) + body


def c_string(value: str) -> bytes:
    """A C-octet string. Characters that are not Latin-1 or would end it are a ValueError."""
    encoded = value.encode("latin-1")
    if b"\0" in encoded:
        raise ValueError("a string of SMPP cannot hold a NUL")
    return encoded + b"\0"


def tlv(tag: int, value: bytes) -> bytes:
    """One optional parameter."""
    return _TLV.pack(tag, len(value)) + value


def read_c_string(body: bytes, start: int) -> tuple[str, int]:
    """The C-octet string that begins there, and where the next field begins."""
    end = body.find(b"\0", start)
    if end < 0:
        raise Malformed("a string has no end")
    return body[start:end].decode("latin-1"), end + 1


def read_tlvs(body: bytes, start: int) -> dict[int, bytes]:
    """The optional parameters from there to the end; of one that is repeated, the first."""
    found: dict[int, bytes] = {}
    while start < len(body):
        if start + _TLV.size > len(body):
            raise Malformed("an optional parameter is cut off")
        tag, length = _TLV.unpack_from(body, start)
        start += _TLV.size
        if start + length > len(body):
            raise Malformed("an optional parameter is cut off")
        found.setdefault(tag, body[start : start + length])
        start += length
    return found


def bind_body(bind: Bind) -> bytes:
    """Body of a bind request for SMPP 3.4, any address."""
    return c_string(bind.system_id) + c_string(bind.password) + c_string(bind.system_type) + b"\x34\0\0\0"


def read_bind(body: bytes) -> Bind:
    """The body of a bind request."""
    system_id, at = read_c_string(body, 0)
    password, at = read_c_string(body, at)
    system_type, _ = read_c_string(body, at)
    return Bind(system_id, password, system_type)


def message_prefix(message: Message) -> bytes:
    """The body of a submit_sm or deliver_sm up to the destination's digits."""
    source = bytes((message.source_ton, message.source_npi)) + c_string(message.source)
    return c_string(message.service_type) + source + bytes((message.destination_ton, message.destination_npi))


def message_suffix(message: Message) -> bytes:
    """The body of a submit_sm or deliver_sm after the destination's digits. Raises ValueError for a text too long."""
    text = message.short_message
    if len(text) > MAX_SHORT_MESSAGE:
        raise ValueError(f"a short message has at most {MAX_SHORT_MESSAGE} octets, not {len(text)}")
    flags = bytes((message.esm_class, message.protocol_id, message.priority))
    times = c_string(message.schedule) + c_string(message.validity)
    rest = bytes((message.registered_delivery, 0, message.data_coding, 0, len(text)))
    return b"\0" + flags + times + rest + text + b"".join(tlv(*each) for each in message.tlvs.items())


def message_body(message: Message) -> bytes:
    """The body of a submit_sm or deliver_sm."""
    return message_prefix(message) + message.destination.encode("latin-1") + message_suffix(message)


def read_message(command: int, body: bytes) -> Message:
    """The body of a submit_sm, deliver_sm or data_sm."""
    try:
        return _read_data(body) if command == Command.DATA_SM else _read_short(body)
    except IndexError:
        raise Malformed("a message is cut off") from None


def _read_addresses(body: bytes) -> tuple[Message, int]:
    """A message with its addresses, and where they end."""
    service_type, at = read_c_string(body, 0)
    source, source_end = read_c_string(body, at + 2)
    destination, end = read_c_string(body, source_end + 2)
    message = Message(
        source=source,
        destination=destination,
        service_type=service_type,
        source_ton=body[at],
        source_npi=body[at + 1],
        destination_ton=body[source_end],
        destination_npi=body[source_end + 1],
    )
    return message, end


def _read_short(body: bytes) -> Message:
    message, at = _read_addresses(body)
    message.esm_class, message.protocol_id, message.priority = body[at], body[at + 1], body[at + 2]
    message.schedule, at = read_c_string(body, at + 3)
    message.validity, at = read_c_string(body, at)
    message.registered_delivery, message.data_coding = body[at], body[at + 2]
    end = at + 5 + body[at + 4]
    if end > len(body):
        raise Malformed("a short message is cut off")
    message.tlvs = read_tlvs(body, end)
    message.short_message = body[at + 5 : end] or message.tlvs.get(Tag.MESSAGE_PAYLOAD, b"")
    return message


def _read_data(body: bytes) -> Message:
    message, at = _read_addresses(body)
    message.esm_class, message.registered_delivery, message.data_coding = body[at], body[at + 1], body[at + 2]
    message.tlvs = read_tlvs(body, at + 3)
    message.short_message = message.tlvs.get(Tag.MESSAGE_PAYLOAD, b"")
    return message


def split_udh(message: Message) -> tuple[bytes, bytes]:
    """The user data header (without its length) and the text's octets. Raises Malformed if it is cut off."""
    octets = message.short_message
    if not message.esm_class & UDH_INDICATOR:
        return b"", octets
    if not octets or len(octets) < octets[0] + 1:
        raise Malformed("a user data header is cut off")
    return octets[1 : octets[0] + 1], octets[octets[0] + 1 :]
