"""Sends."""

from datetime import datetime
from typing import Any

from marshmallow import Schema, validate, validates, validates_schema

from api.accept.responses import BulkSegmentsResponse
from api.resources.sends.bottleneck import REASONS
from api.schemas import fields
from api.schemas.base import Request
from api.schemas.errors import fail
from api.schemas.examples import ACCEPTED_AT, EXPIRES_AT, SEND_COUNTS, SEND_ID, WEBHOOK_URL
from api.schemas.fields import IN_RANGE, doc
from api.schemas.paging import Paging
from api.schemas.times import check_due, check_expiry
from shared.lifecycle import Category, SendState


class SendPaging(Paging):
    """A page of the sends, newest first."""

    status = fields.Enum(SendState, by_value=True, metadata=doc("Only sends with this status.", "sending"))
    reference = fields.String(metadata=doc("Your own reference, returned wherever the send appears.", "order A-1042"))


class SendChanges(Request):
    """Changes to a send."""

    send_at = fields.Timestamp(
        allow_none=True,
        metadata=doc(
            "When it is due: at most 90 days ahead. Null, or up to 60 seconds ago: now. An `expires_at` that was not "
            "chosen moves with it."
        ),
    )
    expires_at = fields.Timestamp(metadata=doc("When unsent messages expire."))
    rate = fields.WholeNumber(
        allow_none=True,
        validate=validate.Range(1, 100_000, error=IN_RANGE),
        metadata=doc("Maximum segments per second; null means as fast as the route allows.", 50),
    )
    message = fields.Text(
        metadata=doc("The text; `{{name}}` and `{{name|default}}` are placeholders.", "Your table is ready.")
    )
    on_unicode = fields.String(
        validate=validate.OneOf(["send", "transliterate", "reject"]),
        load_default="send",
        metadata=doc("What to do with a message that does not fit GSM-7.", "send"),
    )
    max_segments = fields.WholeNumber(
        validate=validate.Range(1, 30, error=IN_RANGE), metadata=doc("Refuse the message if it takes more segments.", 2)
    )

    @validates("send_at")
    def not_too_far_ahead(self, send_at: datetime | None, data_key: str) -> None:
        """90 days at most."""
        if send_at is not None:
            check_due(send_at)

    @validates("expires_at")
    def not_for_ever(self, expires_at: datetime, data_key: str) -> None:
        """97 days at most."""
        check_expiry(expires_at)

    @validates_schema
    def something(self, data: dict[str, Any], **_: Any) -> None:
        """At least one change."""
        if not {"send_at", "expires_at", "rate", "message"} & data.keys():
            raise fail("required", "Provide `send_at`, `expires_at`, `rate` or `message`.")


class StopRuleResponse(Schema):
    """When the send is to be held."""

    failed_share = fields.Float(
        required=True,
        metadata=doc("Hold it when more than this share has failed, of those that a carrier answered for.", 0.2),
    )
    over = fields.Integer(required=True, metadata=doc("Not before so many messages were answered for.", 100))


class CapResponse(Schema):
    """How many messages of the category a phone gets."""

    most = fields.Integer(
        required=True,
        metadata=doc(
            "At most so many messages of the category to a phone; what is more is `rejected`, not charged.", 3
        ),
    )
    hours = fields.Integer(required=True, metadata=doc("In so many hours.", 168))


class QuietHoursRuleResponse(Schema):
    """When nothing is sent, by the clock of the recipient."""

    quiet_from = fields.String(
        required=True,
        data_key="from",
        attribute="from",
        metadata=doc("When it begins, by the recipient's clock.", "21:00"),
    )
    until = fields.String(required=True, metadata=doc("When it ends; may be on the next day.", "08:00"))


class SendResponse(Schema):
    """A send, its status and its counts."""

    send_id = fields.UUID(required=True, attribute="id", metadata=doc("The send.", SEND_ID))
    kind = fields.String(required=True, metadata=doc("The kind of send.", "bulk", enum=["single", "bulk", "group"]))
    status = fields.String(
        required=True, attribute="state", metadata=doc("Current status.", "completed", enum=[*map(str, SendState)])
    )
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    message = fields.String(
        required=True,
        metadata=doc("The text; `{{name}}` and `{{name|default}}` are placeholders.", "Your table is ready."),
    )
    group_id = fields.UUID(required=True, allow_none=True, metadata=doc("The group, for a group send."))
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata=doc(
            "Recipients by outcome of acceptance, and accepted ones by message status.",
            SEND_COUNTS,
        ),
    )
    segments = fields.Nested(
        BulkSegmentsResponse, required=True, metadata=doc("Number of segments, and their encoding.")
    )
    cost = fields.Integer(required=True, metadata=doc("Credits reserved when the send was accepted.", 3))
    charged = fields.Integer(
        required=True,
        metadata=doc(
            "Credits of its messages that a carrier took: `sent`, `delivered` and `undelivered`. What is neither"
            " charged nor waiting, sending or in doubt was given back.",
            3,
        ),
    )
    category = fields.String(
        required=True,
        metadata=doc("The message's purpose, which decides its priority.", "transactional", enum=[*map(str, Category)]),
    )
    reference = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Your own reference, returned wherever the send appears.", "order A-1042"),
    )
    metadata = fields.Dict(
        required=True, allow_none=True, metadata=doc("Your own data, as given.", {"order": "A-1042"})
    )
    callback_url = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("URL that receives this send's events, in addition to your webhooks.", WEBHOOK_URL),
    )
    rate = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Maximum segments per second; null means as fast as the route allows."),
    )
    stop_if = fields.Nested(
        StopRuleResponse,
        required=True,
        allow_none=True,
        metadata=doc("When the send is to be held because messages fail; null: never, or not any more."),
    )
    quiet_hours = fields.Nested(
        QuietHoursRuleResponse,
        required=True,
        allow_none=True,
        metadata=doc("When nothing of it is sent, by the clock of the recipient; null: at no time."),
    )
    cap = fields.Nested(
        CapResponse,
        required=True,
        allow_none=True,
        metadata=doc("How many messages of its category a phone gets, by the rule of the account; null: any number."),
    )
    canary = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("How many messages go first; null: there is no canary, or it is over."),
    )
    eta = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("Estimated time at which the last message is submitted; null if unknown."),
    )
    limited_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            f"What it waits for at present, one of: {', '.join(f'`{reason}`' for reason in REASONS)}. `carrier_rate`"
            " is the usual one of a large send; `sender_rate`, `prefix_rate`: its sender ID, or the numbers that it"
            " goes to, may have no more a second; `queue_turn`: others are before it; `throttled`: the carrier asked"
            " for less; `retry`: it goes again in a moment. Null: nothing waits."
        ),
    )
    resent = fields.Integer(
        required=True,
        metadata=doc(
            "Submits that were repeated because an earlier one had no answer; only where the operator wants it.", 0
        ),
    )
    held_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "What holds it: `operator`, `crashes` (of workers that sent or prepared it: the operator looks),"
            " `sender_id` (suspended),"
            " `canary` or `stop_if`. The last two go on by `resume`.",
            enum=["operator", "crashes", "sender_id", "canary", "stop_if", None],
        ),
    )
    held_reason = fields.String(required=True, allow_none=True, metadata=doc("Why the send is held."))
    send_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it is due; null means at once."))
    expires_at = fields.Timestamp(required=True, metadata=doc("When unsent messages expire.", EXPIRES_AT))
    test = fields.Boolean(
        required=True,
        metadata=doc("Whether it belongs to the sandbox: it reaches no phone and uses play credits.", False),
    )
    messages_url = fields.String(
        required=True, metadata=doc("URL that lists all messages of the send.", f"/api/v1/sends/{SEND_ID}/messages")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was accepted.", ACCEPTED_AT))
    completed_at = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("When the last message was submitted or ended.", "2026-03-02T09:00:01.250Z"),
    )
