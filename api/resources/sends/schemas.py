"""Schemas of sends."""

from typing import get_args

from api.resources.sends.bottleneck import REASONS
from api.resources.sms.responses import BulkSegmentsResponse, RejectedResponse
from api.schemas import fields, send_options
from api.schemas.base import Changes, Response
from api.schemas.examples import ACCEPTED_AT, EXPIRES_AT, SEND_COUNTS, SEND_ID, WEBHOOK_URL
from api.schemas.paging import Paging
from api.schemas.rules import CapResponse, QuietHoursRuleResponse, StopRuleResponse
from api.schemas.send_options import OfSend
from api.schemas.times import check_due, check_expiry
from shared.carriers.error_codes import WITH_ERROR
from shared.lifecycle import Category, MessageStatus, SendState
from shared.sends.holding import HeldBy

UNSUCCESSFUL = sorted(str(status) for status in WITH_ERROR - {MessageStatus.CANCELED})
"""Statuses of messages that failed or are in doubt."""


class SendPaging(Paging):
    """Paging through sends, newest first."""

    status = fields.Enum(SendState, "Only sends with this status.", "sending")
    reference = fields.String("Only sends with this reference.", "order A-1042")
    in_progress = fields.QueryBoolean(
        "With `true`, only bulk and group sends that are due and not complete, however many newer sends there are.",
        "true",
    )


class SendChanges(Changes):
    """Changes to a send."""

    send_at = fields.Timestamp(
        "When the send is due, at most 90 days ahead. Null, or a time up to 60 seconds ago, means now. A default"
        " `expires_at` moves with it.",
        allow_none=True,
        validate=check_due,
    )
    expires_at = fields.Timestamp("When unsent messages expire.", validate=check_expiry)
    rate = send_options.rate("Maximum segments per second; null means as fast as the route allows.", allow_none=True)
    message = fields.Text("The text; `{{name}}` and `{{name|default}}` are placeholders.", "Your table is ready.")
    on_unicode = send_options.on_unicode()
    max_segments = send_options.max_segments()
    changes_nothing = frozenset({"on_unicode", "max_segments"})


class SendResponse(OfSend):
    """A send, with its status and counts."""

    send_id = fields.UUID("The send.", SEND_ID, attribute="id")
    kind = fields.String("The kind of send.", "bulk", one_of=["single", "bulk", "group"])
    status = fields.String("Current status.", "completed", attribute="state", one_of=SendState)
    sender_id = fields.String("The sender ID.", "ACME")
    message = fields.String("The text; `{{name}}` and `{{name|default}}` are placeholders.", "Your table is ready.")
    group_id = fields.UUID("The group of a group send; null for other sends.", allow_none=True)
    counts = fields.Counts("Recipients by outcome of acceptance, and accepted ones by message status.", SEND_COUNTS)
    segments = fields.Nested(BulkSegmentsResponse, "Number of segments, and their encoding.")
    cost = fields.Integer("Credits reserved when the send was accepted.", 3)
    charged = fields.Integer(
        "Credits charged for messages that a carrier accepted: `sent`, `delivered` and `undelivered`. Credits for"
        " the others stay reserved while they wait, are being sent or are in doubt, and are then released.",
        3,
    )
    category = fields.String("The message's purpose, which decides its priority.", "transactional", one_of=Category)
    metadata = fields.Dict("Your own data, as you sent it.", {"order": "A-1042"}, allow_none=True)
    callback_url = fields.String(
        "URL that receives this send's events, in addition to your webhooks.", WEBHOOK_URL, allow_none=True
    )
    rate = fields.Integer("Maximum segments per second; null means as fast as the route allows.", allow_none=True)
    stop_if = fields.Nested(
        StopRuleResponse, "When failures hold the send; null if they do not, or no longer do.", allow_none=True
    )
    quiet_hours = fields.Nested(
        QuietHoursRuleResponse,
        "Hours in which messages wait, in the recipient's local time; null if there are none.",
        allow_none=True,
    )
    cap = fields.Nested(
        CapResponse,
        "The account's cap on messages of this category to one phone number; null means unlimited.",
        allow_none=True,
    )
    canary = fields.Integer(
        "How many messages are sent first; null if there is no canary, or it has ended.", allow_none=True
    )
    eta = fields.Timestamp("Estimated time at which the last message is submitted; null if unknown.", allow_none=True)
    limited_by = fields.String(
        "What currently limits the send. "
        + "; ".join(f"`{reason}`: {meaning}" for reason, meaning in REASONS.items())
        + ". Null if nothing waits.",
        allow_none=True,
    )
    resent = fields.Integer(
        "Submits repeated because an earlier one had no response; above 0 only if the operator enables this.", 0
    )
    held_by = fields.String(
        "What holds the send: the `operator`; `crashes` of workers that processed it, which the operator examines;"
        " a suspended `sender_id`; `canary`; or `stop_if`. After the last two, POST …/resume continues it.",
        allow_none=True,
        one_of=[*get_args(HeldBy), None],
    )
    held_reason = fields.String("Why the send is held; null if it is not.", allow_none=True)
    send_at = fields.Timestamp("When it is due; null means at once.", allow_none=True)
    expires_at = fields.Timestamp("When unsent messages expire.", EXPIRES_AT)
    messages_url = fields.String("URL that lists all messages of the send.", f"/api/v1/sends/{SEND_ID}/messages")
    created_at = fields.Timestamp("When it was accepted.", ACCEPTED_AT)
    completed_at = fields.Timestamp(
        "When the last message was submitted or ended.", "2026-03-02T09:00:01.250Z", allow_none=True
    )


class SendErrorCountResponse(Response):
    """How many messages of a send have one status and one error."""

    status = fields.String("Their status.", "undelivered", one_of=UNSUCCESSFUL)
    code = fields.String(
        "Their error, a code of `GET /errors?kind=message`; null if it is no longer stored.",
        "absent_subscriber",
        allow_none=True,
    )
    count = fields.Integer("Number of these messages.", 12)


class SendErrorsResponse(Response):
    """Why messages of a send failed or are in doubt."""

    data = fields.List(fields.Nested(SendErrorCountResponse), "The counts, largest first.")


class RejectedRecipientsResponse(Response):
    """The recipients of a send that were not accepted."""

    data = fields.List(
        fields.Nested(RejectedResponse),
        "The recipients in their order, at most 1,000; `counts` of the send has the numbers of all.",
    )
