"""Answers that came after their message had been given up as in doubt."""

from sqlalchemy import Engine

from shared.db.connection import transaction
from shared.lifecycle import MessageStatus
from worker.carriers.base import Answer, LateResponse
from worker.receipts.in_doubt import Resolution, resolve

STATUS_OF = {
    Answer.ACCEPTED: MessageStatus.SENT,
    Answer.REJECTED: MessageStatus.FAILED,
    Answer.FAILED: MessageStatus.FAILED,
    Answer.THROTTLED: MessageStatus.FAILED,
}
"""A message that was in doubt is never submitted again by itself, not even when it turns out not to be taken."""


def record_late_responses(engine: Engine, responses: list[LateResponse]) -> None:
    """Resolve the doubts that the answers are about."""
    with transaction(engine) as connection:
        resolve(
            connection,
            [
                Resolution(message, STATUS_OF[outcome.answer], outcome.reference, outcome.error)
                for message, outcome in responses
                if outcome.answer in STATUS_OF
            ],
        )
