"""The event stream, for clients without a public address. It has the same events as webhooks, with the same ids."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from api.auth.tokens import Caller
from api.endpoint import endpoint, json_response, services
from api.http.bounded_queries import bound_statements
from api.http.pagination import to_cursor, uuid_cursor
from api.http.responses import JsonResponse
from api.problems import invalid
from api.resources.events.schemas import EventPaging, StreamEventResponse
from api.schemas.paging import page_of
from shared.db.connection import transaction
from shared.events import stream
from shared.events.stream import START, Event, Position
from shared.ids import time_of
from shared.outbox import KEPT_DAYS, listen


@endpoint("GET", "/events", query=EventPaging, response=page_of(StreamEventResponse), scope="webhooks:read")
def list_events(caller: Caller, query: dict[str, Any]) -> JsonResponse:
    """Read events, oldest first, starting after the last one that you handled.

    An account's first request takes a second and returns no events: events are stored from its response on.
    """
    pointer, given = ("/cursor", uuid_cursor(query["cursor"])) if "cursor" in query else ("/after", query.get("after"))
    engine = services().engine
    listen(engine, caller.account_id)
    with transaction(engine) as connection:
        bound_statements(connection)
        after = START
        if given is not None:
            after = stream.find(connection, caller.account_id, given) or _gone(given, pointer)
        page = stream.read_page(connection, caller.account_id, after, query["limit"], query.get("types"))
        if page.events:
            stream.flush(connection)
    cursor = to_cursor(str(page.end.id)) if page.more else None
    return json_response({"data": [event_entry(event) for event in page.events], "next_cursor": cursor})


def _gone(event: UUID, pointer: str) -> Position:
    """The start of the stream, for an event that is no longer stored. Raises Problem if it cannot have existed."""
    if datetime(2020, 1, 1, tzinfo=UTC) < _moment(event) < datetime.now(UTC) - timedelta(days=KEPT_DAYS):
        return START
    detail = "Your account has no such event. Use the id of an event that you received, or omit it."
    raise invalid([{"pointer": pointer, "code": "invalid", "detail": detail}])


def _moment(event: UUID) -> datetime:
    try:
        return time_of(event)
    except (ValueError, OverflowError):
        return datetime.now(UTC)


def event_entry(event: Event) -> dict[str, Any]:
    """An event as the API shows it."""
    return {"event_id": str(event.id), **event.as_dict()}
