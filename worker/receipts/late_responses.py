"""Applies responses that came after their message was reported as in doubt."""

from collections.abc import Collection

from sqlalchemy import Connection, Engine, func, not_, select

from shared.carriers.error_codes import says_opted_out
from shared.db.connection import transaction
from shared.db.expressions import in_parameter
from shared.db.tables.messages import message
from shared.db.tables.sends import batch, send
from shared.doubts.resolution import Resolution, resolve
from shared.ids import batch_of
from shared.lifecycle import CHARGED_STATUSES, BatchState, MessageStatus
from worker.carriers.base import STATUS_OF, LateResponse, Outcome, ResponseKind

NOT_TAKEN = dict.fromkeys((ResponseKind.THROTTLED, ResponseKind.POSTPONED), MessageStatus.FAILED)
RESOLVED_AS = STATUS_OF | NOT_TAKEN
"""A message once in doubt is never resubmitted automatically, even if it turns out that the carrier did not take it."""


SENDING = select(batch.c.id, batch.c.lane).where(in_parameter(batch.c.id, "ids"), batch.c.state == BatchState.SENDING)
RECORDED = select(message.c.id).where(in_parameter(message.c.id, "ids"))
SUBMITTED_ONCE = (
    select(message.c.id)
    .join(batch, batch.c.id == func.batch_of(message.c.id))
    .join(send, send.c.id == batch.c.send_id)
    .where(in_parameter(message.c.id, "ids"), not_((message.c.attempts > 1) & (send.c.resent > 0)))
)
"""Messages with a row that were certainly not sent again while in doubt."""


def record_late_responses(
    engine: Engine, responses: list[LateResponse], resend_lanes: Collection[int] = ()
) -> list[LateResponse]:
    """Resolve the doubts of the responses' messages, as far as they are `conclusive`.

    Returns the responses whose messages have no result yet.
    """
    certain = [response for response in responses if response.outcome.response is not ResponseKind.IN_DOUBT]
    resolutions = [
        Resolution(identity, _resolved_as(outcome), outcome.reference, outcome.error) for identity, outcome in certain
    ]
    with transaction(engine) as connection:
        early = _without_result(connection, certain, resend_lanes)  # before `resolve`: the cycle may end in between
        resolve(connection, conclusive(connection, resolutions))
    return early


def _resolved_as(outcome: Outcome) -> MessageStatus:
    return MessageStatus.REJECTED if says_opted_out(outcome.error) else RESOLVED_AS[outcome.response]


def _without_result(
    connection: Connection, responses: list[LateResponse], resend_lanes: Collection[int]
) -> list[LateResponse]:
    """The responses whose messages may yet be put in doubt: the cycle that submitted them has not ended.

    In `resend_lanes` that doubt may be about a second submit, and only an accepted message is certain to be sent.
    """
    ids = list({batch_of(response.message_id) for response in responses})
    lanes = {row.id: row.lane for row in connection.execute(SENDING, {"ids": ids})}
    early = []
    for response in responses:
        batch_id, is_accepted = batch_of(response.message_id), response.outcome.response is ResponseKind.ACCEPTED
        if batch_id in lanes and (is_accepted or lanes[batch_id] not in resend_lanes):
            early.append(response)
    if not early:
        return []
    known = set(connection.execute(RECORDED, {"ids": [response.message_id for response in early]}).scalars())
    return [response for response in early if response.message_id not in known]


def conclusive(connection: Connection, resolutions: list[Resolution]) -> list[Resolution]:
    """The resolutions that decide a doubt: acceptances, and refusals of messages that were submitted once.

    A refusal of one submit says nothing of another one. Messages without a row may yet be submitted again.
    """
    refused = [each.message_id for each in resolutions if each.status not in CHARGED_STATUSES]
    once = set(connection.execute(SUBMITTED_ONCE, {"ids": refused}).scalars()) if refused else set()
    return [each for each in resolutions if each.status in CHARGED_STATUSES or each.message_id in once]
