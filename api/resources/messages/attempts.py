"""The attempts of one message, which are its submits to carriers, and the doubt that one of them ended in."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, text

from api.resources.messages.history import MessageRow
from api.schemas.fields import timestamp
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import carrier_code_of, code_of
from shared.lifecycle import CHARGED, MessageStatus

FAILED = text(
    "SELECT submitted_at, answer_ms, answer, carrier, route, error FROM attempt WHERE message_id = :id ORDER BY 1"
)
RESOLVED = text(
    "SELECT since, reason, resolved_at, resolved_by, evidence, status FROM resolved_doubt WHERE message_id = :id"
)


class Attempt(NamedTuple):
    """A submit and its outcome: accepted, rejected (permanent), failed (temporary), or in_doubt (no response)."""

    carrier: str | None
    route: str | None
    submitted_at: datetime
    answered_at: datetime | None
    answer: str
    error: str | None
    """As it is kept."""
    latency_ms: int | None

    def as_dict(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "carrier": self.carrier,
            "route": self.route,
            "submitted_at": timestamp(self.submitted_at),
            "answered_at": timestamp(self.answered_at),
            "answer": self.answer,
            "carrier_code": carrier_code_of(MessageStatus.FAILED, self.error),
            "latency_ms": self.latency_ms,
        }


class Doubt(NamedTuple):
    """No answer came: since when and why, and when and by what it ended as which status, if it has."""

    since: datetime
    reason: str | None
    """As it is kept."""
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    evidence: str | None = None
    status: str = MessageStatus.IN_DOUBT

    def as_dict(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "since": timestamp(self.since),
            "reason": code_of(MessageStatus.IN_DOUBT, self.reason),
            "resolved_at": timestamp(self.resolved_at),
            "resolved_by": self.resolved_by,
            "evidence": self.evidence,
        }


def doubt_of(connection: Connection, message: MessageRow) -> Doubt | None:
    """The message's doubt; None if it was never in doubt."""
    if message.submitted_at is None:
        return None
    row = connection.execute(RESOLVED, {"id": message.id}).one_or_none()
    if row is not None:
        since = max(row.since, message.submitted_at)
        return Doubt(since, row.reason, max(row.resolved_at, since), row.resolved_by, row.evidence, row.status)
    if message.status == MessageStatus.IN_DOUBT:
        return Doubt(_end_of_last(message), message.error)
    if _ended_unseen(message):
        return Doubt(message.submitted_at, None, message.finished_at, status=message.status)
    return None


def attempts_of(connection: Connection, message: MessageRow, doubt: Doubt | None) -> list[Attempt]:
    """The message's attempts, oldest first."""
    earlier = [_failed(row) for row in connection.execute(FAILED, {"id": message.id})]
    return [*earlier, *_last(message, doubt)]


def _ended_unseen(message: MessageRow) -> bool:
    """Whether a doubt was resolved before resolutions were recorded; the time of the response is then unknown too."""
    over = (MessageStatus.FAILED, MessageStatus.EXPIRED)
    later = message.finished_at is not None and message.finished_at != message.submitted_at
    return message.answer_ms is None and message.status in over and later


def _end_of_last(message: MessageRow) -> datetime:
    """When the carrier responded to the last attempt, or it was given up."""
    assert message.submitted_at is not None
    return message.submitted_at + timedelta(milliseconds=message.answer_ms or 0)


def _failed(row: Row[Any]) -> Attempt:
    answered_at = row.submitted_at + timedelta(milliseconds=row.answer_ms)
    return Attempt(row.carrier, row.route, row.submitted_at, answered_at, row.answer, row.error, row.answer_ms)


def _last(message: MessageRow, doubt: Doubt | None) -> list[Attempt]:
    """The attempt recorded in the message's row; none if it was never submitted."""
    at = message.submitted_at
    if at is None:
        return []
    begun = (message.carrier, message.route, at)
    if doubt is None:
        answer = _answer(message.status, message.error)
        error = None if answer == "accepted" else message.error
        return [Attempt(*begun, _end_of_last(message), answer, error, message.answer_ms)]
    if doubt.resolved_by != "answer" or doubt.resolved_at is None:
        return [Attempt(*begun, None, "in_doubt", doubt.reason, None)]
    answer, latency = _answer(doubt.status, message.error), round((doubt.resolved_at - at).total_seconds() * 1000)
    return [Attempt(*begun, doubt.resolved_at, answer, None if answer == "accepted" else message.error, latency)]


def _answer(status: str, error: str | None) -> str:
    if status in CHARGED:
        return "accepted"
    code = code_of(MessageStatus.FAILED, error)
    return "rejected" if code is not None and CATALOGUE[code].permanent else "failed"
