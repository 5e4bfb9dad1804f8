"""The attempts of one message, which are its submits to carriers, and its doubt if one of them got no response."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, select

from api.schemas.fields import timestamp
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import carrier_code_of, code_of
from shared.db.tables.messages import attempt, resolved_doubt
from shared.lifecycle import CHARGED_STATUSES, MessageStatus
from shared.messages.history import MessageRow

FAILED: Select[Any] = (
    select(
        *attempt.c["submitted_at", "answer_ms", "answer", "carrier", "route", "error"],
    )
    .where(attempt.c.message_id == bindparam("id"))
    .order_by(attempt.c.submitted_at)
)
RESOLVED = select(
    *resolved_doubt.c["since", "reason", "resolved_at", "resolved_by", "evidence", "status"],
).where(resolved_doubt.c.message_id == bindparam("id"))


class Attempt(NamedTuple):
    """A submit and its outcome: accepted, rejected (permanent), failed (temporary), or in_doubt (no response)."""

    carrier: str | None
    route: str | None
    submitted_at: datetime
    answered_at: datetime | None
    answer: str
    error: str | None
    """As stored."""
    latency_ms: int | None

    def as_dict(self) -> dict[str, Any]:
        """The attempt as the API shows it."""
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
    """A submit without a response: since when and why; if resolved, when, by what, and with which status."""

    since: datetime
    reason: str | None
    """As stored."""
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    evidence: str | None = None
    status: str = MessageStatus.IN_DOUBT

    def as_dict(self) -> dict[str, Any]:
        """The doubt as the API shows it."""
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
    return None


def attempts_of(connection: Connection, message: MessageRow, doubt: Doubt | None) -> list[Attempt]:
    """The message's attempts, oldest first."""
    earlier = [_failed(row) for row in connection.execute(FAILED, {"id": message.id})]
    return [*earlier, *_last(message, doubt)]


def _end_of_last(message: MessageRow) -> datetime:
    """When the carrier responded to the last attempt, or the wait for a response ended."""
    assert message.submitted_at is not None
    return message.submitted_at + timedelta(milliseconds=message.answer_ms or 0)


def _failed(row: Row[Any]) -> Attempt:
    answered_at = row.submitted_at + timedelta(milliseconds=row.answer_ms)
    return Attempt(row.carrier, row.route, row.submitted_at, answered_at, row.answer, row.error, row.answer_ms)


def _last(message: MessageRow, doubt: Doubt | None) -> list[Attempt]:
    """The attempt recorded in the message's row; none if it was never submitted."""
    submitted_at = message.submitted_at
    if submitted_at is None:
        return []
    submit = (message.carrier, message.route, submitted_at)
    if doubt is None:
        outcome = _outcome(message.status, message.error)
        error = None if outcome == "accepted" else message.error
        return [Attempt(*submit, _end_of_last(message), outcome, error, message.answer_ms)]
    if doubt.resolved_by != "answer" or doubt.resolved_at is None:
        return [Attempt(*submit, None, "in_doubt", doubt.reason, None)]
    outcome = _outcome(doubt.status, message.error)
    latency_ms = round((doubt.resolved_at - submitted_at).total_seconds() * 1000)
    error = None if outcome == "accepted" else message.error
    return [Attempt(*submit, doubt.resolved_at, outcome, error, latency_ms)]


def _outcome(status: str, error: str | None) -> str:
    if status in CHARGED_STATUSES:
        return "accepted"
    code = code_of(MessageStatus.FAILED, error)
    return "rejected" if code is not None and CATALOGUE[code].permanent else "failed"
