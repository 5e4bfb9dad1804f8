"""Applies responses that came after their message was recorded as in doubt."""

from sqlalchemy import Engine

from shared.db.connection import transaction
from shared.doubts.resolution import Resolution, resolve
from shared.lifecycle import MessageStatus
from worker.carriers.base import Answer, LateResponse

STATUS_OF = {
    Answer.ACCEPTED: MessageStatus.SENT,
    Answer.REJECTED: MessageStatus.FAILED,
    Answer.FAILED: MessageStatus.FAILED,
    Answer.THROTTLED: MessageStatus.FAILED,
}
"""A message once in doubt is never resubmitted automatically, even if it turns out that the carrier did not take it."""


def record_late_responses(engine: Engine, responses: list[LateResponse]) -> None:
    """Resolve the doubts of the responses' messages."""
    with transaction(engine) as connection:
        resolve(
            connection,
            [
                Resolution(message, STATUS_OF[outcome.answer], outcome.reference, outcome.error)
                for message, outcome in responses
                if outcome.answer in STATUS_OF
            ],
        )
