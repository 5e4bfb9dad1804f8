"""The timeline of one message, oldest first, by our clock and, if the carrier gave a time, also by its clock."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from api.resources.messages.attempts import Attempt, Doubt, attempts_of, doubt_of
from api.schemas.fields import timestamp
from shared.carriers.error_codes import error_of
from shared.lifecycle import MessageStatus
from shared.messages.history import MessageRow

Event = tuple[datetime, dict[str, Any]]
"""The time of an event, and its data."""

PRECISIONS = {60: "minute", 1: "second", 0: "millisecond"}


def history_of(connection: Connection, message: MessageRow) -> dict[str, Any]:
    """The message's attempts, its timeline, and its doubt, if any."""
    doubt = doubt_of(connection, message)
    attempts = attempts_of(connection, message, doubt)
    return {
        "attempts": [attempt.as_dict() for attempt in attempts],
        "timeline": _timeline(message, attempts, doubt),
        "doubt": doubt and doubt.as_dict(),
    }


def _timeline(message: MessageRow, attempts: list[Attempt], doubt: Doubt | None) -> list[dict[str, Any]]:
    """The message's events. Their times never decrease, even if the clocks of two hosts differ."""
    timeline: list[dict[str, Any]] = []
    latest = message.created_at
    for at, event in [*_before_submit(message, attempts), *_with_carriers(message, attempts, doubt)]:
        latest = max(latest, at)
        timeline.append({"at": timestamp(latest), **event})
    return timeline


def _before_submit(message: MessageRow, attempts: list[Attempt]) -> list[Event]:
    events: list[Event] = [(message.created_at, {"type": "accepted"})]
    until = (attempts[0].submitted_at if attempts else None) or message.finished_at or datetime.now(UTC)
    if message.send_at is not None and message.send_at <= until:
        events.append((message.send_at, {"type": "due"}))
    return events


def _with_carriers(message: MessageRow, attempts: list[Attempt], doubt: Doubt | None) -> list[Event]:
    submitted = message.submitted_at is not None
    events = [_failed(attempt) for attempt in (attempts[:-1] if submitted else attempts)]
    last_type: str | None = None
    if submitted:
        events += _last_attempt(message, attempts[-1], doubt)
        last_type = events[-1][1]["type"]
    if message.finished_at is not None and last_type != message.status:
        events.append((message.finished_at, {"type": message.status, **_result(message)}))
    return events


def _failed(attempt: Attempt) -> Event:
    error = error_of(MessageStatus.FAILED, attempt.error, attempt.carrier)
    event = {"type": "attempt_failed", "carrier": attempt.carrier, "route": attempt.route, "error": error}
    return attempt.answered_at or attempt.submitted_at, event


def _last_attempt(message: MessageRow, attempt: Attempt, doubt: Doubt | None) -> list[Event]:
    """The carrier's response; or the doubt, and how it was resolved."""
    submit = {
        "carrier": message.carrier,
        "route": message.route,
        "carrier_reference": message.carrier_reference,
        "attempts": message.attempts,
    }
    if doubt is None:
        failed = message.status == MessageStatus.FAILED
        error = error_of(message.status, message.error, message.carrier) if failed else None
        kind = MessageStatus.FAILED if failed else MessageStatus.SENT
        return [(attempt.answered_at or attempt.submitted_at, {"type": kind, **submit, "error": error})]
    error = error_of(MessageStatus.IN_DOUBT, doubt.reason, message.carrier)
    events: list[Event] = [(doubt.since, {"type": MessageStatus.IN_DOUBT, **submit, "error": error})]
    if doubt.resolved_at is not None:
        result = _result(message) if doubt.status == message.status else {"error": None}
        resolution = {"type": doubt.status, **result, "resolved_by": doubt.resolved_by, "evidence": doubt.evidence}
        events.append((doubt.resolved_at, resolution))
    return events


def _result(message: MessageRow) -> dict[str, Any]:
    """The details of a message's final event."""
    details: dict[str, Any] = {"error": error_of(message.status, message.error, message.carrier)}
    if message.status in (MessageStatus.DELIVERED, MessageStatus.UNDELIVERED):
        precision = None if message.precision is None else PRECISIONS[message.precision]
        details |= {"carrier_at": timestamp(message.carrier_at), "carrier_at_precision": precision}
    return details
