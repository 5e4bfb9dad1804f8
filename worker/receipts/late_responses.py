"""Applies responses that came after their message was recorded as in doubt."""

from sqlalchemy import Engine

from shared.db.connection import transaction
from shared.doubts.resolution import Resolution, resolve
from shared.lifecycle import MessageStatus
from worker.carriers.base import STATUS_OF, LateResponse, ResponseKind

RESOLVED_AS = {**STATUS_OF, ResponseKind.THROTTLED: MessageStatus.FAILED}
"""A message once in doubt is never resubmitted automatically, even if it turns out that the carrier did not take it."""


def record_late_responses(engine: Engine, responses: list[LateResponse]) -> None:
    """Resolve the doubts of the responses' messages."""
    with transaction(engine) as connection:
        resolve(
            connection,
            [
                Resolution(message, RESOLVED_AS[outcome.response], outcome.reference, outcome.error)
                for message, outcome in responses
                if outcome.response is not ResponseKind.IN_DOUBT
            ],
        )
