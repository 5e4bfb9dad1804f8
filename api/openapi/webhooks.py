"""The webhooks of the OpenAPI document: for each event type, an operation that the receiver implements."""

import re
from typing import Any, Final

from marshmallow import Schema

from api.openapi.schema_examples import example_of
from api.resources.events.event_data import MessageEventData, data_of
from api.schemas.examples import MESSAGE_EVENT, SENT_AT
from shared.lifecycle import EventType, MessageStatus

DATA_SCHEMAS: Final[tuple[type[Schema], ...]] = tuple(dict.fromkeys(data_of(event) for event in EventType))


def _example(event: EventType) -> dict[str, Any]:
    schema, status = data_of(event), event.partition(".")[2]
    if schema is MessageEventData:
        return MESSAGE_EVENT | {"status": status, "sequence": list(MessageStatus).index(MessageStatus(status))}
    example = example_of(schema())
    return example | {"status": status} if "status" in example else example


def _header(name: str, description: str) -> dict[str, Any]:
    return {"in": "header", "name": name, "required": True, "description": description, "schema": {"type": "string"}}


HEADERS = [
    _header("webhook-id", "The event's id, which is the same for every attempt."),
    _header("webhook-timestamp", "When the event was posted, in seconds since 1970-01-01 UTC."),
    _header("webhook-signature", "One or more signatures (`v1,…`) by Standard Webhooks 1.0, separated by spaces."),
]


def webhooks() -> dict[str, Any]:
    """The `webhooks` of the document, by event type."""
    return {event.value: {"post": _operation(event)} for event in EventType}


def event_schemas() -> dict[str, dict[str, Any]]:
    """The schema of each event's body, by name. Without them, client generators would invent poor names."""
    return {_schema_name(event): _schema(event) for event in EventType}


def _schema_name(event: EventType) -> str:
    return "".join(word.capitalize() for word in re.split(r"[._]", event.value)) + "Event"


def _schema(event: EventType) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"type": "string", "const": event.value, "description": "What happened."},
            "timestamp": {"type": "string", "format": "date-time", "description": "When the event happened."},
            "data": {
                "$ref": f"#/components/schemas/{data_of(event).__name__}",
                "description": "What the event is about.",
            },
        },
    }


def _operation(event: EventType) -> dict[str, Any]:
    example = {"type": event.value, "timestamp": SENT_AT, "data": _example(event)}
    schema = {"$ref": f"#/components/schemas/{_schema_name(event)}"}
    return {
        "operationId": f"on_{event.value.replace('.', '_')}",
        "summary": f"Receive {event.value}",
        "description": "Respond with 2xx within 15 seconds. An event can be posted more than once: check `webhook-id`.",
        "tags": ["webhook-events"],
        "security": [],
        "parameters": HEADERS,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}},
        "responses": {
            "2XX": {"description": "The event was received."},
            "410": {"description": "The webhook is disabled and gets no more events."},
            "default": {"description": "The event is posted again, up to ten times in 75 hours."},
        },
    }
