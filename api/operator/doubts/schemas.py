"""Schemas of messages in doubt."""

from marshmallow import validate

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import EXPIRES_AT, MESSAGE_ID, PHONE, SEND_ID, SENT_AT
from api.schemas.paging import Paging
from shared.doubts.by_operator import OUTCOMES

MAX_MESSAGES = 1_000
MAX_CARRIER_LENGTH = 100
CARRIER = fields.length(1, MAX_CARRIER_LENGTH)


class DoubtPaging(Paging):
    """Paging through messages in doubt."""

    send_id = fields.UUID("Only of this send.", SEND_ID)
    carrier = fields.String("Only of this carrier.", "main", validate=CARRIER)


class ResolvingSend(Request):
    """What became of the messages in doubt of a send."""

    outcome = fields.Choice([*OUTCOMES], "What became of them.", "not-sent", required=True)
    reason = reason(required=False)


class Resolving(ResolvingSend):
    """Messages in doubt, and what became of them."""

    message_ids = fields.List(
        fields.UUID(),
        "The messages.",
        [MESSAGE_ID],
        required=True,
        validate=validate.Length(1, MAX_MESSAGES, error="Name {min} to {max} messages."),
    )


class ReportOptions(Request):
    """How to read a carrier's report."""

    carrier = fields.String(
        "The carrier that wrote it, as GET /doubts names it.", "main", required=True, validate=CARRIER
    )
    within_seconds = fields.Integer(
        "Seconds by which times may differ.", 300, load_default=300, validate=fields.between(0, 86_400)
    )
    apply = fields.QueryBoolean("Resolve what matches; otherwise nothing is changed.", False, load_default=False)


class DoubtResponse(Response):
    """A message in doubt."""

    message_id = fields.UUID("The message.", MESSAGE_ID)
    send_id = fields.UUID("Its send.", SEND_ID)
    account_id = fields.Integer("Its account.", ACCOUNT_ID)
    carrier = fields.String("The carrier that may have it.", "main")
    sender_id = fields.String("The sender ID.", "ACME")
    phone = fields.String("The phone number; its middle is hidden without the scope `texts`.", PHONE)
    submitted_at = fields.Timestamp(
        "When it was submitted. If its worker was killed: when that was noticed, so it was submitted before.", SENT_AT
    )
    expires_at = fields.Timestamp(
        "When its validity ends. If still in doubt, it expires after a grace period and its credits are released.",
        EXPIRES_AT,
    )


class ResolvedResponse(Response):
    """The messages are resolved."""

    resolved = fields.Integer("Messages that were resolved.", 1)
    not_in_doubt = fields.List(fields.UUID(), "Named messages that were not in doubt.", [])


class UnreadableLineResponse(Response):
    """A line that could not be read."""

    line = fields.Integer("Its number.", 3)
    detail = fields.String("Why.", "'0712x' is not a phone number")


class ReportResponse(Response):
    """What a carrier's report matches."""

    matched = fields.Counts("Matching messages by their status in the report.", {"delivered": 2})
    resolved = fields.Integer("Messages that were resolved; 0 without `apply`.", 2)
    not_in_doubt = fields.Integer("Rows of messages that are not in doubt.", 5)
    unmatched = fields.Integer("Rows that fit no message in doubt.", 1)
    ambiguous_lines = fields.List(
        fields.Integer(), "Lines, at most 100, that fit several messages, or a message that another line fits too.", [4]
    )
    unreadable_lines = fields.List(fields.Nested(UnreadableLineResponse), "Unreadable lines, at most 100.")
    left_in_doubt = fields.Integer("Messages of the carrier that are still in doubt.", 3)
