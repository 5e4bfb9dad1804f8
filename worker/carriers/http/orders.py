"""Builds requests from messages: one message each, or as many of one text as the carrier takes in a request."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from shared.carriers.http.config import HttpConfig
from shared.carriers.http.request_templates import filled, filled_text, filled_url
from worker.carriers.base import SHORT_CODE_DIGITS, MessageGroup, Outcome, ResponseKind

PART_REFUSED = Outcome(ResponseKind.REJECTED, error="part_needs_smpp")
"""What came over SMPP in parts, or as binary, can only go on over SMPP."""


@dataclass(eq=False, slots=True)
class Order:
    """One request and its result. Its repr shows neither phones nor text."""

    url: str = field(repr=False)
    method: str
    headers: dict[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    ids: list[UUID]
    phones: list[str] = field(repr=False)
    segments: int
    """Total of all its messages."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    may_be_written: bool = False
    """Whether any of it may have been written. Guarded by `lock`, as are `given_up` and `outcomes`."""
    given_up: bool = False
    """Whether `submit` has stopped waiting for it."""
    outcomes: list[Outcome] | None = field(default=None, repr=False)
    done: threading.Event = field(default_factory=threading.Event, repr=False)


def orders(config: HttpConfig, message_groups: list[MessageGroup]) -> Iterator[Order]:
    """The requests for these messages, in order."""
    now = datetime.now(UTC)
    settings = {**config.values, **config.callback_urls()}
    for message_group in message_groups:
        for start in range(0, len(message_group.ids), config.request.batch):
            end = start + config.request.batch
            ids = [message_group.ids[index] for index in range(start, min(end, len(message_group.ids)))]
            order = _order(config, settings, message_group, ids, list(message_group.phones[start:end]), now)
            if message_group.part is not None:
                order.outcomes = [PART_REFUSED] * len(ids)
                order.done.set()
            yield order


def _order(
    config: HttpConfig,
    settings: dict[str, str],
    message_group: MessageGroup,
    ids: list[UUID],
    phones: list[str],
    now: datetime,
) -> Order:
    request = config.request
    left = int((message_group.expires_at - now).total_seconds())
    values: dict[str, Any] = {
        **settings,
        "text": message_group.text,
        "sender_id": message_group.sender_id,
        "plus_sender_id": plus_sender_id(message_group.sender_id),
        "phones": phones,
        "plus_phones": [f"+{phone}" for phone in phones],
        "message_ids": [str(identity) for identity in ids],
        "validity": min(max(left, request.min_validity), request.max_validity),
        "expires_at": f"{message_group.expires_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "phone": phones[0],
        "message_id": str(ids[0]),
    }
    if request.message is not None:
        each = [{"phone": phone, "message_id": str(identity)} for phone, identity in zip(phones, ids, strict=True)]
        values["messages"] = [filled(request.message, {**values, **own}) for own in each]
    headers = {name: filled_text(value, values) for name, value in request.headers.items()}
    headers.update(_authorization(config, values))
    body = None
    if request.json is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(filled(request.json, values), ensure_ascii=False).encode()
    elif request.form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        form = {name: filled_text(value, values) for name, value in request.form.items()}
        body = urlencode({name: value for name, value in form.items() if value}).encode()
    return Order(
        filled_url(request.url, values), request.method, headers, body, ids, phones, message_group.segments * len(ids)
    )


def plus_sender_id(sender_id: str) -> str:
    """The sender with a plus if it is an E.164 number; an alphanumeric sender or short code unchanged."""
    number = sender_id.removeprefix("+")
    is_number = number.isascii() and number.isdigit() and len(number) > SHORT_CODE_DIGITS
    return f"+{number}" if is_number else sender_id


def _authorization(config: HttpConfig, values: dict[str, Any]) -> dict[str, str]:
    request = config.request
    if request.bearer is not None:
        return {"Authorization": f"Bearer {filled_text(request.bearer, values)}"}
    if request.basic is not None:
        pair = ":".join(filled_text(part, values) for part in request.basic)
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {}
