"""The `data` of events, in webhook posts and in the event stream."""

from api.resources.messages.schemas import MessageErrorResponse
from api.resources.statements.schemas import StatementSummaryResponse
from api.resources.verifications.schemas import VerificationApprovedData
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import (
    ACCEPTED_AT,
    INBOUND_ID,
    MESSAGE_ID,
    PHONE,
    SEND_ID,
    WEBHOOK_ID,
    WEBHOOK_URL,
)
from api.schemas.send_options import OfSend
from shared.inbound import Keyword
from shared.lifecycle import STORED_STATUSES, Category, EventType, MessageStatus, SendState

EVENT_COUNTS = {"accepted": 3} | {str(status): 0 for status in STORED_STATUSES} | {"sent": 1, "delivered": 2}


class MessageEventData(OfSend):
    """A message whose status changed."""

    message_id = fields.UUID("The message.", MESSAGE_ID)
    send_id = fields.UUID("The send.", SEND_ID)
    phone = fields.String("Digits only, starting with the country code; null if it was erased.", PHONE, allow_none=True)
    status = fields.String("The new status.", "delivered", one_of=MessageStatus)
    sequence = fields.Integer(
        "Increases as the message advances. Ignore an event with a lower `sequence` than you have.", 10
    )
    error = fields.String("The carrier's error code, or ours; null if there is no error.", allow_none=True)
    error_details = fields.Nested(
        MessageErrorResponse, "Why it was not delivered, or is in doubt; null if there was no error.", allow_none=True
    )
    sender_id = fields.String("The sender ID.", "ACME", allow_none=True)
    metadata = fields.Dict("Your own data, as you sent it.", {"order": "A-1042"}, allow_none=True)


class MessageReceivedData(Response):
    """An inbound message."""

    inbound_id = fields.UUID("The inbound message.", INBOUND_ID)
    phone = fields.String("The phone number that sent it.", PHONE)
    sender_id = fields.String("Your number that received it.", "254204000000")
    message = fields.String("The text.", "STOP")
    keyword = fields.String(
        "What the text asks for, as in GET /inbound; null if nothing.",
        "stop",
        allow_none=True,
        one_of=[*Keyword, None],
    )


class SendEventData(OfSend):
    """A send that ended or is held."""

    send_id = fields.UUID("The send.", SEND_ID)
    status = fields.String("The new status.", "completed", one_of=SendState)
    kind = fields.String("The kind of send.", "bulk", one_of=["single", "bulk", "group"])
    sender_id = fields.String("The sender ID.", "ACME")
    counts = fields.Counts("Accepted recipients, and messages with a result by status.", EVENT_COUNTS)
    held_reason = fields.String("Why the send is held; null if it is not.", allow_none=True)
    metadata = fields.Dict("Your own data, as you sent it.", {"order": "A-1042"}, allow_none=True)
    created_at = fields.Timestamp("When it was accepted.", ACCEPTED_AT)
    completed_at = fields.Timestamp(
        "When the last message was submitted or ended.", "2026-03-02T09:00:01.250Z", allow_none=True
    )


class SenderIdEventData(Response):
    """A decision about a sender ID."""

    sender_id = fields.String("The sender ID.", "ACME")
    reason = fields.String("The operator's reason; null if none was given.", allow_none=True)


class SuppressionEventData(Response):
    """Phone numbers added to the opt-out list together. Properties that differ between them are null."""

    added = fields.Integer("Phone numbers added to the list.", 1)
    phone = fields.String("The phone number, if only one was added.", PHONE, allow_none=True)
    category = fields.String(
        "The category that the opt-out applies to; null means all.", allow_none=True, one_of=[*Category, None]
    )
    sender_id = fields.String("The sender ID that the opt-out applies to; null means all.", allow_none=True)
    reason = fields.String("The reason; `stop` if the number's owner replied STOP.", "stop", allow_none=True)


class LowBalanceData(Response):
    """A balance that fell below its threshold."""

    balance = fields.Integer("Credits left to spend.", 99)
    low_balance_threshold = fields.Integer("Below this the balance counts as low.", 100)


class SpendThresholdData(Response):
    """Charges of a month that reached the account's threshold."""

    month = fields.String("The month, in UTC.", "2026-03")
    credits = fields.Integer("Credits charged for the messages accepted in it, until now.", 50_012)
    spend_threshold = fields.Integer("The threshold.", 50_000)


class StatementClosedData(StatementSummaryResponse):
    """A month that is over and counted."""


class PriceChangedData(Response):
    """Prices that will change, by the number of destinations; or will not, if the version was withdrawn."""

    list = fields.String("The price list; null: none, so that a segment costs one credit.", "Standard", allow_none=True)
    version = fields.Integer("Its version.", 12, allow_none=True)
    valid_from = fields.Timestamp("From when the prices are valid.", "2026-03-09T00:00:00.000Z")
    withdrawn = fields.Boolean("Whether this was announced before, and does not happen.", False)
    raised = fields.Integer("Prices that are higher.", 1)
    lowered = fields.Integer("Prices that are lower.", 0)
    added = fields.Integer("Destinations that can be sent to from then on.", 0)
    removed = fields.Integer("Destinations that cannot be sent to any more.", 0)


class WebhookDisabledData(Response):
    """A webhook that was disabled."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID)
    url = fields.String("Where events were posted.", WEBHOOK_URL, allow_none=True)
    reason = fields.String("Why it was disabled.", "It responded with 410 Gone.")


class WebhookTestData(Response):
    """A test of a webhook."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID)


def data_of(event: EventType) -> type[Response]:
    """The schema of an event's data."""
    by_type: dict[EventType, type[Response]] = {
        EventType.MESSAGE_RECEIVED: MessageReceivedData,
        EventType.SUPPRESSION_CREATED: SuppressionEventData,
        EventType.BALANCE_LOW: LowBalanceData,
        EventType.SPEND_THRESHOLD: SpendThresholdData,
        EventType.STATEMENT_CLOSED: StatementClosedData,
        EventType.PRICE_CHANGED: PriceChangedData,
        EventType.VERIFICATION_APPROVED: VerificationApprovedData,
        EventType.WEBHOOK_DISABLED: WebhookDisabledData,
        EventType.WEBHOOK_TEST: WebhookTestData,
    }
    by_subject: dict[str, type[Response]] = {
        "message": MessageEventData,
        "send": SendEventData,
        "sender_id": SenderIdEventData,
    }
    return by_type.get(event) or by_subject[event.partition(".")[0]]
