"""What happened to one message, oldest first."""

from datetime import UTC, datetime
from typing import Any

from api.endpoint import timestamp
from api.history import MessageRow
from shared.lifecycle import MessageStatus
from shared.message_codes import error_of

Event = tuple[datetime, dict[str, Any]]
"""When, and what."""


def timeline(message: MessageRow) -> list[dict[str, Any]]:
    """The message's events. Their times never go back, also where the clocks of two machines or a carrier differ."""
    told: list[dict[str, Any]] = []
    latest = message.created_at
    for at, event in [*_before_hand_over(message), *_with_the_carrier(message)]:
        latest = max(latest, at)
        told.append({"at": timestamp(latest), **event})
    return told


def _before_hand_over(message: MessageRow) -> list[Event]:
    events: list[Event] = [(message.created_at, {"type": "accepted"})]
    until = message.submitted_at or message.finished_at or datetime.now(UTC)
    if message.send_at is not None and message.send_at <= until:
        events.append((message.send_at, {"type": "due"}))
    return events


def _with_the_carrier(message: MessageRow) -> list[Event]:
    events: list[Event] = []
    at, finished_at = message.submitted_at, message.finished_at
    answer, error = _answer(message), error_of(message.status, message.error, message.carrier)
    if at is not None:
        events.append(
            (
                at,
                {
                    "type": answer,
                    "carrier": message.carrier,
                    "route": message.route,
                    "carrier_reference": message.carrier_reference,
                    "attempts": message.attempts,
                    "error": error if answer == message.status else None,
                },
            )
        )
    if finished_at is not None and (at is None or answer != message.status):
        events.append((finished_at, {"type": message.status, "error": error}))
    return events


def _answer(message: MessageRow) -> str:
    """What the hand-over ended in. A failure that came later than the answer was told of a message in doubt."""
    at, finished_at = message.submitted_at, message.finished_at
    if message.status == MessageStatus.FAILED and at is not None and finished_at is not None and finished_at <= at:
        return MessageStatus.FAILED
    of_doubt = (MessageStatus.IN_DOUBT, MessageStatus.FAILED, MessageStatus.EXPIRED)
    return MessageStatus.IN_DOUBT if message.status in of_doubt else MessageStatus.SENT
