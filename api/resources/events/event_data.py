"""The `data` of events, in webhook posts and in the event stream."""

from marshmallow import Schema

from api.resources.messages.schemas import MessageErrorResponse
from api.schemas import fields
from api.schemas.examples import (
    ACCEPTED_AT,
    INBOUND_ID,
    MESSAGE_ID,
    PHONE,
    SEND_COUNTS,
    SEND_ID,
    WEBHOOK_ID,
    WEBHOOK_URL,
)
from api.schemas.fields import doc
from shared.inbound import Keyword
from shared.lifecycle import Category, MessageStatus, SendState
from shared.outbox import EventType


class MessageEventData(Schema):
    """A message whose status changed."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, starting with the country code; null if it was erased.", PHONE),
    )
    status = fields.String(required=True, metadata=doc("What it is now.", "delivered", enum=[*map(str, MessageStatus)]))
    sequence = fields.Integer(
        required=True, metadata=doc("Rises along the life of a message: ignore an event with less than you have.", 10)
    )
    error = fields.String(
        required=True, allow_none=True, metadata=doc("The carrier's own code, or ours; null: nothing is wrong.")
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
        required=True, allow_none=True, metadata=doc("Your own data, as given.", {"order": "A-1042"})
    )
    test = fields.Boolean(
        required=True,
        metadata=doc("Whether it belongs to the sandbox: it reaches no phone and uses play credits.", False),
    )


class MessageReceivedData(Schema):
    """An inbound message."""

    inbound_id = fields.UUID(required=True, metadata=doc("The message from a phone.", INBOUND_ID))
    phone = fields.String(required=True, metadata=doc("The phone that sent it.", PHONE))
    sender_id = fields.String(required=True, metadata=doc("The number of yours that it was sent to.", "254204000000"))
    message = fields.String(required=True, metadata=doc("The text.", "STOP"))
    keyword = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("What it asks for; null: nothing.", "stop", enum=[*map(str, Keyword), None]),
    )


class SendEventData(Schema):
    """A send that ended, or is held."""

    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    status = fields.String(required=True, metadata=doc("What it is now.", "completed", enum=[*map(str, SendState)]))
    kind = fields.String(required=True, metadata=doc("The kind of send.", "bulk", enum=["single", "bulk", "group"]))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata=doc("The accepted recipients, by message status.", SEND_COUNTS),
    )
    held_reason = fields.String(required=True, allow_none=True, metadata=doc("Why the send is held."))
    reference = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Your own reference, returned wherever the send appears.", "order A-1042"),
    )
    metadata = fields.Dict(
        required=True, allow_none=True, metadata=doc("Your own data, as given.", {"order": "A-1042"})
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
    reason = fields.String(required=True, allow_none=True, metadata=doc("Why; null: none was given."))


class SuppressionEventData(Schema):
    """Phones added to the opt-out list together. Properties that differ between them are null."""

    added = fields.Integer(required=True, metadata=doc("Phones added to the list.", 1))
    phone = fields.String(required=True, allow_none=True, metadata=doc("The phone, where it was one.", PHONE))
    category = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Has opted out of this category only; null: of all.", enum=[*map(str, Category), None]),
    )
    sender_id = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Has opted out of messages from this sender ID only; null: from all."),
    )
    reason = fields.String(
        required=True, allow_none=True, metadata=doc("Why: `stop` where the phone's owner wrote so.", "stop")
    )


class LowBalanceData(Schema):
    """A balance that fell below its threshold."""

    balance = fields.Integer(required=True, metadata=doc("Credits that can still be spent.", 99))
    low_balance_threshold = fields.Integer(required=True, metadata=doc("Below this the balance counts as low.", 100))


class WebhookDisabledData(Schema):
    """A webhook that was disabled."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))
    url = fields.String(required=True, allow_none=True, metadata=doc("Where events were posted.", WEBHOOK_URL))
    reason = fields.String(required=True, metadata=doc("Why.", "It answered 410."))


class WebhookTestData(Schema):
    """A test of a webhook."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))


def data_of(event: EventType) -> type[Schema]:
    """The schema of an event's data."""
    alone: dict[EventType, type[Schema]] = {
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
    return alone.get(event) or by_subject[event.partition(".")[0]]
