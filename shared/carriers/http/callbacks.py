"""Parses receipts and inbound messages from callbacks and polls of HTTP carriers.

A receipt without a message id or with an undeclared status is skipped rather than refused, because a retry by the
carrier would not change it; so is an inbound message without phones or text. The log counts such entries and names
statuses, never texts; those of callbacks are also stored as received.
"""

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from shared.carriers.error_codes import with_code
from shared.carriers.http import paths
from shared.carriers.http.config import HttpConfig, InboundMessage, OptOutNotice, Receipts
from shared.carriers.receipts import Receipt, is_plausible
from shared.carriers.unreadable import Unreadable
from shared.inbound import Inbound
from shared.lifecycle import MessageStatus
from shared.sms.phones import is_phone

log = logging.getLogger(__name__)

MAX_FIELDS = 1_000
_CHARSET = re.compile(r"charset\s*=\s*\"?(utf-?8|iso-8859-(?:1[013-6]|[1-9])|windows-125[0-8])\b", re.I | re.A)


class UnreadableCallback(ValueError):
    """The document does not match the declaration. The message says what is missing."""


def fields_of(encoded: str, content_type: str = "") -> dict[str, str]:
    """Parse a query string or form; the first value of each name counts. Raises UnreadableCallback.

    A field that is not UTF-8 has the charset of the Content-Type. Without one it is Windows-1252, unless some of it can
    only be UTF-8.
    """
    named = _CHARSET.search(content_type)
    charset = named[1] if named else None
    try:
        pairs = parse_qsl(encoded, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="surrogateescape")
    except ValueError:
        raise UnreadableCallback(f"more than {MAX_FIELDS} fields") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        fields.setdefault(_text(name, charset), _text(value, charset))
    return fields


def _text(escaped: str, charset: str | None) -> str:
    octets = escaped.encode("utf-8", "surrogateescape")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        has_utf8 = not octets.decode("utf-8", "ignore").isascii()
        return octets.decode(charset or ("utf-8" if has_utf8 else "cp1252"), "replace")


def document_of(content_type: str, query: Mapping[str, str], body: bytes) -> Any:
    """Parse a callback: JSON, a form, or the query if there is no body. Raises UnreadableCallback."""
    if not body:
        return dict(query)
    if content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
        return fields_of(body.decode("utf-8", "replace"), content_type)
    document = paths.parse(body)
    if document is None:
        raise UnreadableCallback("neither JSON nor a form")
    return document


def receipts_in(config: HttpConfig, document: Any, now: datetime) -> tuple[list[Receipt], list[Unreadable]]:
    """The receipts in a document, and the entries that are none. Raises UnreadableCallback."""
    where = config.receipts
    if where is None:
        raise UnreadableCallback("this carrier sends no receipts")
    receipts, unreadable, statuses = [], [], set()
    for entry in _entries(document, where.each):
        receipt = _receipt(where, config.error_codes, entry, now)
        if receipt is not None:
            receipts.append(receipt)
            continue
        has_id = paths.identity(paths.at(entry, where.id)) is not None
        unreadable.append(_as_received(entry, "unknown_status" if has_id else "no_id_or_state"))
        statuses.add(paths.code(paths.at(entry, where.status)))
    if unreadable:
        skipped = len(unreadable)
        log.warning("%s: skipped %d unreadable receipts; statuses: %s", config.name, skipped, sorted(statuses)[:10])
    return receipts, unreadable


def inbound_in(config: HttpConfig, document: Any) -> tuple[list[Inbound], list[Unreadable]]:
    """The inbound messages in a document, and the entries that are none. Raises UnreadableCallback."""
    if config.inbound is None:
        raise UnreadableCallback("this carrier sends no messages")
    messages, unreadable = [], []
    for entry in _entries(document, config.inbound.each):
        message = _inbound(config.inbound, entry) or _opt_out(config.opt_out, entry)
        if message is not None:
            messages.append(message)
        else:
            unreadable.append(_as_received(entry, "not_a_message"))
    if unreadable:
        log.warning("%s: skipped %d unreadable inbound messages", config.name, len(unreadable))
    return messages, unreadable


def _as_received(entry: Any, reason: str) -> Unreadable:
    return Unreadable(json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8", "replace"), reason)


def _entries(document: Any, each: str | None) -> list[Any]:
    entries = paths.entries(document, each)
    if entries is None:
        raise UnreadableCallback(f"there is no list at {each}")
    return entries


def _receipt(where: Receipts, error_codes: Mapping[str, str], entry: Any, now: datetime) -> Receipt | None:
    reference = paths.identity(paths.at(entry, where.id))
    value = where.statuses.get(paths.word(paths.at(entry, where.status)))
    if reference is None or value is None:
        return None
    status = MessageStatus(value)
    phone = paths.word(paths.at(entry, where.phone)).lstrip("+") if where.phone else ""
    error = paths.code(paths.at(entry, where.error)) if where.error else ""
    error = error or paths.code(paths.at(entry, where.status))
    done_at, precision = _time(paths.at(entry, where.time) if where.time else None, now)
    return Receipt(
        reference=reference,
        status=status,
        error=with_code(error, error_codes) if status is MessageStatus.UNDELIVERED else None,
        done_at=done_at,
        phone=phone if is_phone(phone) else None,
        precision=precision,
    )


def _inbound(where: InboundMessage, entry: Any) -> Inbound | None:
    content = paths.at(entry, where.text)
    phone, sent_to = (paths.word(paths.at(entry, path)) for path in (where.phone, where.recipient))
    if not phone or not sent_to or not isinstance(content, str):
        return None
    return Inbound(phone, sent_to, content, identity=paths.identity(paths.at(entry, where.id)) if where.id else None)


def _opt_out(where: OptOutNotice | None, entry: Any) -> Inbound | None:
    """A notice that a phone has opted out of a sender, as the STOP that it stands for."""
    phone, sender = (paths.word(paths.at(entry, path)) for path in (where.phone, where.sender)) if where else ("", "")
    return Inbound(phone, sender, "STOP") if phone and sender else None


def _time(value: Any, now: datetime) -> tuple[datetime, int | None]:
    """Parse a time. Returns it and its precision in seconds, or `now` and None if it is missing or implausible."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is None:
            return now, None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return now, None
    return (moment, 0 if "." in value else 1) if is_plausible(moment, now) else (now, None)
