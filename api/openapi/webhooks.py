"""What is posted to webhooks, as the OpenAPI document describes it: an operation of the receiver for each event."""

from typing import Any

from api.openapi.fields import WORDS
from api.openapi.fields.core import GROUP_ID, PHONE, SEND_ID, SENT_AT
from api.openapi.fields.webhooks import MESSAGE_EVENT
from shared.lifecycle import MessageStatus
from shared.outbox import EventType

WEBHOOK_ID = str(WORDS["webhook_id"][1])


def _message(status: str) -> dict[str, Any]:
    return MESSAGE_EVENT | {"status": status, "sequence": list(MessageStatus).index(MessageStatus(status))}


def _data(event: EventType) -> dict[str, Any]:
    subject, _, status = event.partition(".")
    if event == EventType.MESSAGE_RECEIVED:
        return {"inbound_id": GROUP_ID, "phone": PHONE, "sender_id": "ACME", "message": "STOP", "keyword": "STOP"}
    if subject == "message":
        return _message(status)
    if subject == "send":
        return {"send_id": SEND_ID, "status": status, "counts": WORDS["Send.counts"][1]}
    if subject == "sender_id":
        return {"sender_id": "ACME", "reason": None}
    others: dict[EventType, dict[str, Any]] = {
        EventType.SUPPRESSION_CREATED: {
            "added": 1,
            "phone": PHONE,
            "category": None,
            "sender_id": None,
            "reason": "STOP",
        },
        EventType.BALANCE_LOW: {"balance": 99, "low_balance_threshold": 100},
        EventType.WEBHOOK_DISABLED: {
            "webhook_id": WEBHOOK_ID,
            "url": "https://hooks.example/sms-events",
            "reason": "It answered 410.",
        },
        EventType.WEBHOOK_TEST: {"webhook_id": WEBHOOK_ID},
    }
    return others[event]


def _header(name: str, description: str) -> dict[str, Any]:
    return {"in": "header", "name": name, "required": True, "description": description, "schema": {"type": "string"}}


HEADERS = [
    _header("webhook-id", "The event's id, the same at every try."),
    _header("webhook-timestamp", "When it was posted, in seconds since 1970."),
    _header("webhook-signature", "Signatures by Standard Webhooks 1.0, with a space between two: `v1,…`."),
]


def webhooks() -> dict[str, Any]:
    """The `webhooks` of the document, by event type."""
    return {event.value: {"post": _operation(event)} for event in EventType}


def _described(name: str, value: Any) -> dict[str, Any]:
    """A member of the data, in the words that it has in answers."""
    word = WORDS.get(name)
    return {**({"description": word[0]} if word else {}), "examples": [value]}


def _operation(event: EventType) -> dict[str, Any]:
    data = _data(event)
    example = {"type": event.value, "timestamp": SENT_AT, "data": data}
    schema = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"type": "string", "const": event.value},
            "timestamp": {"type": "string", "format": "date-time", "description": "When it happened."},
            "data": {
                "type": "object",
                "required": sorted(data),
                "properties": {name: _described(name, value) for name, value in data.items()},
            },
        },
    }
    return {
        "operationId": f"on_{event.value.replace('.', '_')}",
        "summary": f"Receive {event.value}",
        "description": "Answer 2xx within 15 seconds. An event may be posted more than once: tell it by `webhook-id`.",
        "tags": ["webhooks"],
        "security": [],
        "parameters": HEADERS,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}},
        "responses": {
            "2XX": {"description": "The event was taken."},
            "410": {"description": "Post nothing more here: the webhook is disabled."},
            "default": {"description": "Anything else: it is posted again later, ten times in 75 hours."},
        },
    }
