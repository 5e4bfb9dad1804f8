"""Encodes and decodes SMPP 3.4 PDUs: a header of four integers (§3.2), a body, and optional parameters.

Input is not trusted: the readers raise `Malformed` and nothing else.
"""

import re
from dataclasses import dataclass, field
from struct import Struct

from shared.carriers.smpp.constants import UDH_INDICATOR, Command, Tag

HEADER = Struct(">IIII")
"""command_length, command_id, command_status, sequence_number."""
HEADER_SIZE = 16
MAX_PDU = 65_536
"""Default limit on the size of a received PDU in octets; message_payload can have 64 kB."""
MAX_SHORT_MESSAGE = 254
MAX_PARAMETERS = 64
"""Optional parameters of a PDU that are read. No standard or carrier has as many."""

_TLV = Struct(">HH")
_ADDRESSES = rb"([^\0]*)\0(..)([^\0]*)\0(..)([^\0]*)\0"
"""service_type, and the type of number, plan and digits of source and destination. Patterns read a body in half of the
time that one field after another takes."""
_SHORT_MESSAGE = re.compile(_ADDRESSES + rb"(...)([^\0]*)\0([^\0]*)\0(.....)", re.DOTALL)
"""Of a submit_sm or deliver_sm, up to sm_length (§4.4.1)."""
_DATA = re.compile(_ADDRESSES + rb"(...)", re.DOTALL)
"""Of a data_sm, up to its optional parameters (§4.7.1)."""


class Malformed(ValueError):
    """A PDU that does not conform to the standard. The message never quotes its contents."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Body of a bind request. The repr omits the password."""

    system_id: str
    password: str = field(repr=False)
    system_type: str = ""


@dataclass(slots=True)
class Message:
    """Body of a submit_sm, deliver_sm or data_sm. The repr omits every field that may contain a text or phone.

    Not frozen: it is filled in while being read, and a frozen dataclass takes three times as long to create.
    """

    source: str = field(repr=False)
    destination: str = field(repr=False)
    short_message: bytes = field(default=b"", repr=False)
    """Octets with the user data header, if any; taken from message_payload if that is used."""
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
    tlvs_at: int = field(default=0, compare=False)
    """Offset of the optional parameters in the body that was read."""


def pdu(command: int, status: int, sequence: int, body: bytes = b"") -> bytes:
    """Encode a complete PDU."""
    return HEADER.pack(HEADER_SIZE + len(body), command, status, sequence) + body


def c_string(value: str) -> bytes:
    """Encode a C-octet string. Raises ValueError for a NUL or a character that is not Latin-1."""
    encoded = value.encode("latin-1")
    if b"\0" in encoded:
        raise ValueError("an SMPP string cannot contain a NUL")
    return encoded + b"\0"


def tlv(tag: int, value: bytes) -> bytes:
    """Encode an optional parameter."""
    return _TLV.pack(tag, len(value)) + value


def read_c_string(body: bytes, start: int) -> tuple[str, int]:
    """Read the C-octet string at `start`. Returns it and the offset of the next field."""
    end = body.find(b"\0", start)
    if end < 0:
        raise Malformed("a string is not terminated")
    return body[start:end].decode("latin-1"), end + 1


def read_tlvs(body: bytes, start: int) -> dict[int, bytes]:
    """Read the optional parameters from `start` to the end. The first of repeated ones counts.

    What follows the last whole one, or MAX_PARAMETERS, is left out: the fields before it are complete
    (`has_broken_rest`).
    """
    tlvs: dict[int, bytes] = {}
    for _ in range(MAX_PARAMETERS):
        if start + _TLV.size > len(body):
            break
        tag, length = _TLV.unpack_from(body, start)
        start += _TLV.size + length
        if start > len(body):
            break
        tlvs.setdefault(tag, body[start - length : start])
    return tlvs


def has_broken_rest(body: bytes, message: Message) -> bool:
    """Whether the body, from which the message was read, ends with something else than parameters and NULs."""
    at = message.tlvs_at
    for _ in range(MAX_PARAMETERS):
        if at + _TLV.size > len(body):
            break
        end = at + _TLV.size + _TLV.unpack_from(body, at)[1]
        if end > len(body):
            break
        at = end
    return bool(body[at:].strip(b"\0"))


def bind_body(bind: Bind) -> bytes:
    """Encode the body of an SMPP 3.4 bind request for any address range."""
    return c_string(bind.system_id) + c_string(bind.password) + c_string(bind.system_type) + b"\x34\0\0\0"


def read_bind(body: bytes) -> Bind:
    """Decode the body of a bind request."""
    system_id, at = read_c_string(body, 0)
    password, at = read_c_string(body, at)
    system_type, _ = read_c_string(body, at)
    return Bind(system_id, password, system_type)


def message_prefix(message: Message) -> bytes:
    """Encode the body of a submit_sm or deliver_sm up to the destination's digits."""
    source = bytes((message.source_ton, message.source_npi)) + c_string(message.source)
    return c_string(message.service_type) + source + bytes((message.destination_ton, message.destination_npi))


def message_suffix(message: Message) -> bytes:
    """Encode the body of a submit_sm or deliver_sm after the destination's digits.

    Raises ValueError if the text is too long.
    """
    text = message.short_message
    if len(text) > MAX_SHORT_MESSAGE:
        raise ValueError(f"a short_message has at most {MAX_SHORT_MESSAGE} octets, not {len(text)}")
    flags = bytes((message.esm_class, message.protocol_id, message.priority))
    times = c_string(message.schedule) + c_string(message.validity)
    text_fields = bytes((message.registered_delivery, 0, message.data_coding, 0, len(text)))
    return b"\0" + flags + times + text_fields + text + b"".join(tlv(*each) for each in message.tlvs.items())


def message_body(message: Message) -> bytes:
    """Encode the body of a submit_sm or deliver_sm."""
    return message_prefix(message) + message.destination.encode("latin-1") + message_suffix(message)


def read_message(command: int, body: bytes) -> Message:
    """Decode the body of a submit_sm, deliver_sm or data_sm."""
    return _read_data(body) if command == Command.DATA_SM else _read_short(body)


def _read(body: bytes, layout: re.Pattern[bytes]) -> tuple[Message, int, list[bytes]]:
    """Read the addresses into a message. Returns it, the offset after the fields, and those after the addresses."""
    fields = layout.match(body)
    if fields is None:
        raise Malformed("a message is truncated")
    service_type, source_type, source, destination_type, destination, *rest = fields.groups()
    message = Message(
        source=source.decode("latin-1"),
        destination=destination.decode("latin-1"),
        service_type=service_type.decode("latin-1"),
        source_ton=source_type[0],
        source_npi=source_type[1],
        destination_ton=destination_type[0],
        destination_npi=destination_type[1],
    )
    return message, fields.end(), rest


def _read_short(body: bytes) -> Message:
    message, at, (flags, schedule, validity, options) = _read(body, _SHORT_MESSAGE)
    message.esm_class, message.protocol_id, message.priority = flags
    message.schedule, message.validity = schedule.decode("latin-1"), validity.decode("latin-1")
    message.registered_delivery, _, message.data_coding, _, size = options
    end = at + size
    if end > len(body):
        raise Malformed("a short message is truncated")
    message.tlvs_at = end
    message.tlvs = read_tlvs(body, end)
    message.short_message = _text(body[at:end], message.tlvs)
    return message


def _text(short_message: bytes, tlvs: dict[int, bytes]) -> bytes:
    """The text. Of its two places one must be empty (§5.3.2.32), where some carriers put a NUL or a blank."""
    is_empty = short_message.strip(b"\0") in (b"", b" ")
    return tlvs.get(Tag.MESSAGE_PAYLOAD, short_message) if is_empty else short_message


def _read_data(body: bytes) -> Message:
    message, at, (options,) = _read(body, _DATA)
    message.esm_class, message.registered_delivery, message.data_coding = options
    message.tlvs_at = at
    message.tlvs = read_tlvs(body, at)
    message.short_message = message.tlvs.get(Tag.MESSAGE_PAYLOAD, b"")
    return message


def split_udh(message: Message) -> tuple[bytes, bytes]:
    """Split short_message into user data header (without its length) and text. Raises Malformed if truncated."""
    octets = message.short_message
    if not message.esm_class & UDH_INDICATOR:
        return b"", octets
    if not octets or len(octets) < octets[0] + 1:
        raise Malformed("a user data header is truncated")
    return octets[1 : octets[0] + 1], octets[octets[0] + 1 :]
