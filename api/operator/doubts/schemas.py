"""Schemas of messages in doubt."""

from marshmallow import Schema, validate

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.examples import EXPIRES_AT, MESSAGE_ID, PHONE, SEND_ID, SENT_AT
from api.schemas.fields import IN_RANGE, Request, doc
from api.schemas.paging import Paging
from shared.doubts.by_operator import OUTCOMES

MAX_MESSAGES = 1_000
MAX_CARRIER_LENGTH = 100
CARRIER = validate.Length(1, MAX_CARRIER_LENGTH, error="Use {min} to {max} characters.")


class DoubtPaging(Paging):
    """Paging through messages in doubt."""

    send_id = fields.UUID(metadata=doc("Only of this send.", SEND_ID))
    carrier = fields.String(validate=CARRIER, metadata=doc("Only of this carrier.", "main"))


class ResolvingSend(Request):
    """What became of the messages in doubt of a send."""

    outcome = fields.String(
        required=True,
        validate=validate.OneOf([*OUTCOMES], error="Use one of {choices}."),
        metadata=doc("What became of them.", "not-sent", enum=[*OUTCOMES]),
    )
    reason = reason(required=False)


class Resolving(ResolvingSend):
    """Messages in doubt, and what became of them."""

    message_ids = fields.List(
        fields.UUID(),
        required=True,
        validate=validate.Length(1, MAX_MESSAGES, error="Name {min} to {max} messages."),
        metadata=doc("The messages.", [MESSAGE_ID]),
    )


class ReportOptions(Request):
    """How to read a carrier's report."""

    carrier = fields.String(
        required=True, validate=CARRIER, metadata=doc("The carrier that wrote it, as GET /doubts names it.", "main")
    )
    within_seconds = fields.Integer(
        load_default=300,
        validate=validate.Range(0, 86_400, error=IN_RANGE),
        metadata=doc("Seconds by which times may differ.", 300),
    )
    apply = fields.QueryBoolean(
        load_default=False, metadata=doc("Resolve what matches; otherwise nothing is changed.", False)
    )


class DoubtResponse(Schema):
    """A message in doubt."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    send_id = fields.UUID(required=True, metadata=doc("Its send.", SEND_ID))
    account_id = fields.Integer(required=True, metadata=doc("Its account.", ACCOUNT_ID))
    carrier = fields.String(required=True, metadata=doc("The carrier that may have it.", "main"))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    phone = fields.String(
        required=True, metadata=doc("The phone number; its middle is hidden without the scope `texts`.", PHONE)
    )
    submitted_at = fields.Timestamp(
        required=True,
        metadata=doc(
            "When it was submitted. If its worker was killed: when that was noticed, so it was submitted before.",
            SENT_AT,
        ),
    )
    expires_at = fields.Timestamp(
        required=True,
        metadata=doc(
            "When its validity ends. If still in doubt, it expires after a grace period and its credits are released.",
            EXPIRES_AT,
        ),
    )


class ResolvedResponse(Schema):
    """The messages are resolved."""

    resolved = fields.Integer(required=True, metadata=doc("Messages that were resolved.", 1))
    not_in_doubt = fields.List(fields.UUID(), required=True, metadata=doc("Named messages that were not in doubt.", []))


class UnreadableLineResponse(Schema):
    """A line that could not be read."""

    line = fields.Integer(required=True, metadata=doc("Its number.", 3))
    detail = fields.String(required=True, metadata=doc("Why.", "'0712x' is not a phone number"))


class ReportResponse(Schema):
    """What a carrier's report matches."""

    matched = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata=doc("Matching messages by their status in the report.", {"delivered": 2}),
    )
    resolved = fields.Integer(required=True, metadata=doc("Messages that were resolved; 0 without `apply`.", 2))
    not_in_doubt = fields.Integer(required=True, metadata=doc("Rows of messages that are not in doubt.", 5))
    unmatched = fields.Integer(required=True, metadata=doc("Rows that fit no message in doubt.", 1))
    ambiguous_lines = fields.List(
        fields.Integer(),
        required=True,
        metadata=doc("Lines, at most 100, that fit several messages, or a message that another line fits too.", [4]),
    )
    unreadable_lines = fields.List(
        fields.Nested(UnreadableLineResponse), required=True, metadata=doc("Unreadable lines, at most 100.")
    )
    left_in_doubt = fields.Integer(required=True, metadata=doc("Messages of the carrier that are still in doubt.", 3))
