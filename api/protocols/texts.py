"""The text of a submit, and of a message from a phone.

data_coding 0 is what the credential's alphabet says; 1 and 3 are Latin-1, 8 is UCS-2, and 4 is binary. A part with a
user data header or sar_ parameters, and what is binary, is passed on as it came; its text is only for display.
"""

from typing import Final, NamedTuple

from shared.accounts.smpp_credentials import Alphabet
from shared.carriers.smpp.constants import UDH_INDICATOR, Tag
from shared.carriers.smpp.pdu import Malformed, Message, split_udh
from shared.carriers.smpp.raw_part import RawPart
from shared.sends.templates import escaped
from shared.sms import gsm7
from shared.sms.segments import FORBIDDEN, MAX_CHARACTERS

BINARY: Final = 4
SAR: Final = {Tag.SAR_MSG_REF_NUM: 2, Tag.SAR_TOTAL_SEGMENTS: 1, Tag.SAR_SEGMENT_SEQNUM: 1}
"""Octets of each (§5.3.2.22 to 24)."""
MAX_OCTETS: Final = 4 * MAX_CHARACTERS
"""Of a text, in any encoding."""
CODECS: Final = {1: "latin-1", 3: "latin-1", 8: "utf-16-be"}
CODINGS: Final = frozenset({0, BINARY, *CODECS})
OF_ALPHABET: Final[dict[Alphabet, str]] = {"latin1": "latin-1", "utf8": "utf-8"}


class BadText(ValueError):
    """A text that cannot be read. The message is for the customer."""


class Content(NamedTuple):
    """What a submit sends: a text, with its braces escaped; or a part, with what is shown of it."""

    text: str
    part: RawPart | None = None


def content_of(message: Message, alphabet: Alphabet) -> Content:
    """What the submit sends. Raises BadText."""
    sar = {int(tag): message.tlvs[tag] for tag in SAR if tag in message.tlvs} if message.tlvs else {}
    if sar and {tag: len(value) for tag, value in sar.items()} != SAR:
        raise BadText("A part has all three sar_ parameters, of 2, 1 and 1 octets.")
    if len(message.short_message) > MAX_OCTETS:
        raise BadText(f"A text has at most {MAX_CHARACTERS:,} characters.")
    coding = message.data_coding
    if coding not in CODINGS:
        raise BadText(f"data_coding {coding} is not supported; use 0, 1, 3, 4 or 8.")
    if not (message.esm_class & UDH_INDICATOR or sar or coding == BINARY):
        return Content(escaped(_text(message.short_message, coding, alphabet)))
    try:
        _, octets = split_udh(message)
    except Malformed:
        raise BadText("The user data header is longer than the message.") from None
    header = message.short_message.removesuffix(octets)
    shown, coding, octets = _of_part(octets, coding, alphabet)
    part = RawPart(header + octets, coding, message.esm_class & UDH_INDICATOR, sar)
    if not part.fits:
        raise BadText("A part has at most 140 octets with its header, or 160 septets.")
    return Content(escaped(FORBIDDEN.sub("\ufffd", shown)), part)


def _of_part(octets: bytes, coding: int, alphabet: Alphabet) -> tuple[str, int, bytes]:
    """The shown text, and the data_coding and the octets to pass on: carriers know other alphabets than the
    credential's, so their characters become GSM-7 or Latin-1."""
    if coding == BINARY:
        return "", coding, octets
    if coding == 0 and alphabet == "gsm":
        if not octets.isascii():
            raise BadText("A text in GSM-7 has septets, one in each octet.")
        return gsm7.decode(octets), 0, octets
    if coding == 8:
        return octets.decode("utf-16-be", "replace"), coding, octets
    text = _text(octets, coding, alphabet)
    if gsm7.is_gsm7(text):
        return text, 0, gsm7.encode(text)
    try:
        return text, 3, text.encode("latin-1")
    except UnicodeEncodeError:
        raise BadText("A part in this alphabet has a character that is in neither GSM-7 nor Latin-1.") from None


def _text(octets: bytes, coding: int, alphabet: Alphabet) -> str:
    try:
        if coding == 0 and alphabet == "gsm":
            return gsm7.decode(octets)
        return octets.decode(CODECS.get(coding) or OF_ALPHABET[alphabet])
    except UnicodeDecodeError:
        raise BadText("The text is not in the encoding that its data_coding names.") from None


def encoded(text: str, alphabet: Alphabet) -> tuple[bytes, int]:
    """The octets and the data_coding of a text for the customer."""
    try:
        return (gsm7.encode(text) if alphabet == "gsm" else text.encode(OF_ALPHABET[alphabet])), 0
    except UnicodeEncodeError:
        return text.encode("utf-16-be", "replace"), 8
