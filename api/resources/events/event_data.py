"""The `data` of events, in webhook posts and in the event stream."""

from marshmallow import Schema

from api.resources.messages.schemas import MessageErrorResponse
from api.schemas import fields
from api.schemas.examples import (
    ACCEPTED_AT,
    INBOUND_ID,
    MESSAGE_ID,
    PHONE,
    SEND_ID,
    WEBHOOK_ID,
    WEBHOOK_URL,
)
from api.schemas.fields import doc
from shared.inbound import Keyword
from shared.lifecycle import STORED_STATUSES, Category, MessageStatus, SendState
from shared.outbox import EventType

EVENT_COUNTS = {"accepted": 3} | {str(status): 0 for status in STORED_STATUSES} | {"sent": 1, "delivered": 2}


class MessageEventData(Schema):
    """A message whose status changed."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, starting with the country code; null if it was erased.", PHONE),
    )
    status = fields.String(required=True, metadata=doc("The new status.", "delivered", enum=[*map(str, MessageStatus)]))
    sequence = fields.Integer(
        required=True,
        metadata=doc("Increases as the message advances. Ignore an event with a lower `sequence` than you have.", 10),
    )
    error = fields.String(
        required=True, allow_none=True, metadata=doc("The carrier's error code, or ours; null if there is no error.")
    )
    error_details = fields.Nested(
        MessageErrorResponse,
        required=True,
        allow_none=True,
        metadata=doc("Why it was not delivered, or is in doubt; null if there was no error."),
    )
    sender_id = fields.String(required=True, allow_none=True, metadata=doc("The sender ID.", "ACME"))
    reference = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Your own reference, returned wherever the send appears.", "order A-1042"),
    )
    metadata = fields.Dict(
        required=True, allow_none=True, metadata=doc("Your own data, as you sent it.", {"order": "A-1042"})
    )
    test = fields.Boolean(
        required=True,
        metadata=doc("Whether it belongs to the sandbox: it reaches no phone and uses play credits.", False),
    )


class MessageReceivedData(Schema):
    """An inbound message."""

    inbound_id = fields.UUID(required=True, metadata=doc("The inbound message.", INBOUND_ID))
    phone = fields.String(required=True, metadata=doc("The phone number that sent it.", PHONE))
    sender_id = fields.String(required=True, metadata=doc("Your number that received it.", "254204000000"))
    message = fields.String(required=True, metadata=doc("The text.", "STOP"))
    keyword = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "What the text asks for, as in GET /inbound; null if nothing.", "stop", enum=[*map(str, Keyword), None]
        ),
    )


class SendEventData(Schema):
    """A send that ended or is held."""

    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    status = fields.String(required=True, metadata=doc("The new status.", "completed", enum=[*map(str, SendState)]))
    kind = fields.String(required=True, metadata=doc("The kind of send.", "bulk", enum=["single", "bulk", "group"]))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata=doc("Accepted recipients, and messages with a result by status.", EVENT_COUNTS),
    )
    held_reason = fields.String(
        required=True, allow_none=True, metadata=doc("Why the send is held; null if it is not.")
    )
    reference = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Your own reference, returned wherever the send appears.", "order A-1042"),
    )
    metadata = fields.Dict(
        required=True, allow_none=True, metadata=doc("Your own data, as you sent it.", {"order": "A-1042"})
    )
    test = fields.Boolean(
        required=True,
        metadata=doc("Whether it belongs to the sandbox: it reaches no phone and uses play credits.", False),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was accepted.", ACCEPTED_AT))
    completed_at = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("When the last message was submitted or ended.", "2026-03-02T09:00:01.250Z"),
    )


class SenderIdEventData(Schema):
    """A decision about a sender ID."""

    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    reason = fields.String(
        required=True, allow_none=True, metadata=doc("The operator's reason; null if none was given.")
    )


class SuppressionEventData(Schema):
    """Phone numbers added to the opt-out list together. Properties that differ between them are null."""

    added = fields.Integer(required=True, metadata=doc("Phone numbers added to the list.", 1))
    phone = fields.String(
        required=True, allow_none=True, metadata=doc("The phone number, if only one was added.", PHONE)
    )
    category = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The category that the opt-out applies to; null means all.", enum=[*map(str, Category), None]),
    )
    sender_id = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The sender ID that the opt-out applies to; null means all."),
    )
    reason = fields.String(
        required=True, allow_none=True, metadata=doc("The reason; `stop` if the number's owner replied STOP.", "stop")
    )


class LowBalanceData(Schema):
    """A balance that fell below its threshold."""

    balance = fields.Integer(required=True, metadata=doc("Credits left to spend.", 99))
    low_balance_threshold = fields.Integer(required=True, metadata=doc("Below this the balance counts as low.", 100))


class WebhookDisabledData(Schema):
    """A webhook that was disabled."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))
    url = fields.String(required=True, allow_none=True, metadata=doc("Where events were posted.", WEBHOOK_URL))
    reason = fields.String(required=True, metadata=doc("Why it was disabled.", "It responded with 410 Gone."))


class WebhookTestData(Schema):
    """A test of a webhook."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))


def data_of(event: EventType) -> type[Schema]:
    """The schema of an event's data."""
    by_type: dict[EventType, type[Schema]] = {
        EventType.MESSAGE_RECEIVED: MessageReceivedData,
        EventType.SUPPRESSION_CREATED: SuppressionEventData,
        EventType.BALANCE_LOW: LowBalanceData,
        EventType.WEBHOOK_DISABLED: WebhookDisabledData,
        EventType.WEBHOOK_TEST: WebhookTestData,
    }
    by_subject: dict[str, type[Schema]] = {
        "message": MessageEventData,
        "send": SendEventData,
        "sender_id": SenderIdEventData,
    }
    return by_type.get(event) or by_subject[event.partition(".")[0]]
