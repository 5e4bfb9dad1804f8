"""Parses a deliver_sm: a delivery receipt, or an inbound message.

A receipt is recognized by its esm_class or a receipted_message_id, which only the carrier can set. A text that merely
looks like a receipt is a message, or else any phone could forge receipts; only if the operator has set
`unmarked_receipts` for the carrier is it taken as a receipt.

The text has the form of SMPP 3.4 appendix B, `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, from
which every carrier deviates in its own way: missing fields, another order, spaces, other case. Optional parameters take
precedence over the text.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from shared.carriers.error_codes import with_code
from shared.carriers.receipts import is_plausible
from shared.carriers.smpp.alphabets import charset_of
from shared.carriers.smpp.constants import (
    ACKNOWLEDGEMENT_TYPES,
    INTERMEDIATE,
    MESSAGE_TYPE,
    RECEIPT_TYPES,
    UDH_INDICATOR,
    Tag,
)
from shared.carriers.smpp.part_header import read_header, sar_of
from shared.carriers.smpp.pdu import Malformed, Message, split_udh
from shared.inbound import Coded, Inbound
from shared.lifecycle import MessageStatus
from shared.sms import charsets
from shared.sms.phones import is_phone
from worker.carriers.base import Receipt
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.ids import receipt_id

__all__ = ["inbound", "is_acknowledgement", "is_receipt", "looks_like_receipt", "read_receipt", "usual_receipt"]

_UNDELIVERED = (
    *("EXPIRED", "DELETED", "UNDELIV", "UNDELIVERED", "UNDELIVERABLE", "UNDELIVRD", "UNKNOWN"),
    *("REJECTD", "REJECTED", "FAILED", "SKIPPED", "CANCELED", "CANCELLED"),
    *("NOCRED", "SYSERR", "BARRED", "ZEROBAL"),
)
_ON_ITS_WAY = (
    *("ENROUTE", "EN_ROUTE", "ACCEPTD", "ACCEPTED", "BUFFERED", "SCHEDULED", "SUBMITD", "SUBMITTED"),
    *("QUEUED", "PENDING", "SENT", "ACKED", "BUFFRED", "BUFFERD", "ENQUEUE"),
)
_STATUSES = {
    **dict.fromkeys(("DELIVRD", "DELIVERED", "DELIVERD"), MessageStatus.DELIVERED),
    **dict.fromkeys(_UNDELIVERED, MessageStatus.UNDELIVERED),
    **dict.fromkeys(_ON_ITS_WAY, MessageStatus.SENT),
}
"""What a state means. Carriers have others, of which nobody knows whether they are final."""
_FIELD = re.compile(
    r"\b(id|stat(?:us)?|done ?date|err(?:or)?)\s{0,3}[:=]\s{0,3}"
    r"(?!(?:id|sub|dlvrd|submit ?date|done ?date|stat(?:us)?|err(?:or)?)\s{0,3}[:=])([^\s,;]+)",
    re.I | re.A,
)
"""A field and its value, which is not the name of the next field: then it has none."""
_OTHER_FIELD = re.compile(r"\b(?:sub|dlvrd|submit ?date|done ?date|err(?:or)?)\s{0,3}[:=]", re.I | re.A)
_NAMES = {"i": "id", "s": "stat", "d": "done", "e": "err"}
_USUAL = re.compile(
    r"id:(?P<id>\S{1,255}) sub:\S* dlvrd:\S* submit date:\S* done date:(?P<done>\S*) stat:(?P<stat>\w+)"
    r" err:(?P<err>\S*)(?: |$)",
    re.A,
)
"""The standard's form, matched at once instead of field by field."""
_USUAL_BODY = re.compile(
    rb"[^\0]{0,5}\0..([1-9][0-9]{7,14})\0..([!-~]{0,20})\0\x04..\0\0..[\0\x01\x03].(.)"
    rb"id:([!-~]{1,64}) sub:[!-~]* dlvrd:[!-~]* submit date:[!-~]* done date:([!-~]*)"
    rb" stat:(" + "|".join(_STATUSES).encode() + rb") err:([!-~]*)(?= |$)",
    re.S,
)
"""A whole deliver_sm (SMPP 3.4 §4.6.1) with an ASCII receipt in that form."""
_TEXT = re.compile(r"\btext\s{0,3}[:=]", re.I | re.A)
_DATE = re.compile(r"(?:20)?(\d{2})-?(\d\d)-?(\d\d)[T ]?(\d\d):?(\d\d)(?::?(\d\d))?", re.A)
_HEAD = 500
"""Characters of a receipt's text that are parsed."""

_WORD = re.compile(r"\W*([A-Z_]+)[^A-Z_]*", re.A)
"""A state, with what may be around it, such as a dot, a NUL, or a code. Another word may be a negation."""
_STATES = dict(enumerate(["ENROUTE", "DELIVRD", "EXPIRED", "DELETED", "UNDELIV", "ACCEPTD", "UNKNOWN", "REJECTD"], 1))
"""message_state (§5.2.28)."""
_STATE_OF = {word.encode(): state for state, word in _STATES.items()}
_NATIONAL = {1: False, 2: True}
"""Whether a type of number (§5.2.5) is a national one; the others do not tell."""
MINUTE, SECOND = 60, 1
MAX_ADDRESS_LENGTH = 64
"""Most characters of an address (§4.7.1); one of thousands could not be stored with an index."""


class DoneAt(NamedTuple):
    """A receipt's time and its precision in seconds; None if the receipt has no valid time and `at` is our clock's."""

    at: datetime
    precision: int | None


def is_receipt(message: Message) -> bool:
    """Whether the carrier marked this as a delivery receipt."""
    return message.esm_class & MESSAGE_TYPE in RECEIPT_TYPES or Tag.RECEIPTED_MESSAGE_ID in message.tlvs


def looks_like_receipt(message: Message) -> bool:
    """Whether an unmarked message has the text of a receipt."""
    if message.esm_class & (MESSAGE_TYPE | UDH_INDICATOR):
        return False
    return _reads_like_receipt(message.short_message)


def is_acknowledgement(message: Message) -> bool:
    """Whether the carrier marked this as an acknowledgement of a phone or person, which some do with receipts.

    §5.2.12 has these types for texts of people, too, so it is a receipt only if it reads like one.
    """
    is_marked = message.esm_class & MESSAGE_TYPE in ACKNOWLEDGEMENT_TYPES and not message.esm_class & UDH_INDICATOR
    return is_marked and _reads_like_receipt(message.short_message)


def _reads_like_receipt(octets: bytes) -> bool:
    """Whether a text has the id and state of a receipt and another of its fields."""
    text = _text(octets)[:_HEAD]
    fields = _fields(octets)
    return "id" in fields and fields.get("stat", "").upper() in _STATUSES and _OTHER_FIELD.search(text) is not None


def read_receipt(config: SmppConfig, message: Message, now: datetime) -> Receipt | None:
    """The receipt in a deliver_sm or data_sm; None if it lacks a message id or a known state.

    A state of the carrier's own that `error_codes` explains is known, and means undelivered. An intermediate
    notification is final only by a state of the standard.
    """
    fields = _fields(_without_header(message))
    value = message.tlvs.get(Tag.RECEIPTED_MESSAGE_ID)
    from_tlv = value.split(b"\0", 1)[0].decode("latin-1") if value else None
    reference = receipt_id(config, fields.get("id"), from_tlv)
    state = message.tlvs.get(Tag.MESSAGE_STATE)
    stat = fields.get("stat", "")
    word = (_STATES.get(state[0]) if state else None) or _word(stat, config)
    if stat and word not in _STATUSES and message.esm_class & MESSAGE_TYPE == INTERMEDIATE:
        word = "ENROUTE"
    if word is None or not reference:
        return None
    phone = message.source.removeprefix("+")
    status, error, (done_at, precision) = _outcome(
        word, fields.get("err") or _network_error(message), fields.get("done"), config.receipt_utc_offset, now
    )
    return Receipt(
        reference,
        status,
        error and with_code(error, config.error_codes),
        done_at,
        phone if is_phone(phone) else None,
        message.destination.removeprefix("+") or None,
        precision,
    )


def usual_receipt(config: SmppConfig, body: bytes, now: datetime) -> Receipt | None:
    """The receipt in a deliver_sm of the usual form, parsed at a third of the cost; None for any other form.

    The usual form is the standard's text, untruncated, with no optional parameters except ones that repeat the text.
    """
    match = _USUAL_BODY.match(body)
    if match is None or not config.plain_ids:
        return None
    phone, sender, length, identity, done, word, code = match.groups()
    end = match.start(4) - 3 + length[0]
    rest = body[end:]
    if not match.end() <= end <= len(body) or (rest and rest != _same_in_parameters(identity, word)):
        return None
    status, error, (done_at, precision) = _outcome(
        word.decode(), code.decode(), done.decode(), config.receipt_utc_offset, now
    )
    return Receipt(
        identity.decode(),
        status,
        error and with_code(error, config.error_codes),
        done_at,
        phone.decode(),
        sender.decode().removeprefix("+") or None,
        precision,
    )


@lru_cache(maxsize=256)
def _outcome(
    word: str, code: str | None, done: str | None, offset: float, now: datetime
) -> tuple[MessageStatus, str | None, DoneAt]:
    """Status, error and time. Cached, as most receipts of a batch share them. `offset` is in hours."""
    status = _STATUSES.get(word, MessageStatus.UNDELIVERED)
    error = _error(word, code) if status == MessageStatus.UNDELIVERED else None
    return status, error, _done(done, timedelta(hours=offset), now)


def _same_in_parameters(identity: bytes, word: bytes) -> bytes:
    """The receipted_message_id and message_state parameters that repeat the text's id and state."""
    state = _STATE_OF.get(word, 0)
    return b"\0\x1e" + (len(identity) + 1).to_bytes(2, "big") + identity + b"\0\x04\x27\0\1" + bytes((state,))


def inbound(config: SmppConfig, message: Message) -> Inbound:
    """The inbound message. Raises Malformed if its user data header is truncated, or an address is too long."""
    if max(len(message.source), len(message.destination)) > MAX_ADDRESS_LENGTH:
        raise Malformed("an address is too long")
    header, octets = split_udh(message)
    concatenation, single_shift, locking_shift = read_header(header)
    part = concatenation or sar_of(message.tlvs)
    charset = charset_of(message.data_coding, config.alphabet, single_shift, locking_shift)
    text = charsets.decode(octets, charset)
    whole = Inbound(message.source, message.destination, text, national=_NATIONAL.get(message.source_ton))
    if part is None:
        return whole
    return replace(whole, reference=part[0], total=part[1], number=part[2], coded=Coded(octets, charset))


def _network_error(message: Message) -> str | None:
    """The code in network_error_code (§5.3.2.31): a type of network, then the code in two octets."""
    value = message.tlvs.get(Tag.NETWORK_ERROR_CODE, b"")
    return f"{int.from_bytes(value[1:3], 'big'):03d}" if len(value) == 3 else None


def _without_header(message: Message) -> bytes:
    """A receipt's text without its user data header, which some lack although their esm_class has the bit for it."""
    octets = message.short_message
    has_header = message.esm_class & UDH_INDICATOR and b"\0" < octets[:1] < b" "
    return octets[octets[0] + 1 :] if has_header else octets


def _text(octets: bytes) -> str:
    """A receipt's text: ASCII or UTF-16, as its octets show. SMSCs copy the data_coding of the message it is for."""
    if octets[:1] == b"\0" or octets[:2] == b"\xfe\xff":
        return octets.decode("utf-16-be", "replace").lstrip("\ufeff")
    if octets[1:2] == b"\0":
        return octets.decode("utf-16-le", "replace")
    return octets.decode("latin-1")


def _fields(octets: bytes) -> dict[str, str]:
    """The receipt's fields: id, stat, done and err. If a field is repeated, the first counts."""
    text = _text(octets)
    usual = _USUAL.match(text)
    if usual is not None:
        return usual.groupdict()
    text = _TEXT.split(text[:_HEAD], maxsplit=1)[0]
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(text):
        fields.setdefault(_NAMES[name[0].lower()], value)
    return fields


def _word(stat: str, config: SmppConfig) -> str | None:
    """The known state: the field as a whole, or else without what is around its word; None if neither is known."""
    field = stat.upper()
    match = _WORD.fullmatch(field)
    for name in (field, match[1]) if match else (field,):
        if name in _STATUSES:
            return name
        for own in config.error_codes:
            if own.upper() == name:
                return own
    return None


def _error(word: str, code: str | None) -> str:
    """The carrier's state, followed by its error code unless that is empty or zero."""
    code = re.sub(r"[^0-9A-Za-z_-]", "", code or "")[:20]
    return f"{word[:20]}:{code}" if code.strip("0") else word[:20]


def _done(value: str | None, offset: timedelta, now: datetime) -> DoneAt:
    done = _date(value, offset) if value else None
    return done if done is not None and is_plausible(done.at, now) else DoneAt(now, None)


@lru_cache(maxsize=256)
def _date(value: str, offset: timedelta) -> DoneAt | None:
    match = _DATE.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(group or 0) for group in match.groups())
    try:
        at = datetime(2000 + year, month, day, hour, minute, second, tzinfo=UTC) - offset
    except ValueError:
        return None
    return DoneAt(at, MINUTE if match[6] is None else SECOND)
