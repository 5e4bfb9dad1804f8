"""Schemas of messages."""

from typing import Any

from marshmallow import Schema, ValidationError, validate, validates_schema

from api.schemas import fields
from api.schemas.examples import ACCEPTED_AT, DELIVERED_AT, MESSAGE_ID, PHONE, SEND_ID, SENT_AT
from api.schemas.fields import MAX_REFERENCE_LENGTH, doc
from api.schemas.paging import Paging
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import error_of
from shared.lifecycle import Category, MessageStatus

NO_SUCH_ERROR = "There is no such message error; GET /api/v1/errors?kind=message lists them all."
ERROR_CODES = [*CATALOGUE]
MAX_TEXTS = 100
"""Entries of a page with texts."""
STATUSES = [str(status) for status in MessageStatus]
ERROR_EXAMPLE = error_of("undelivered", "absent_subscriber=UNDELIV:027", "acme-telecom")


class MessagePaging(Paging):
    """Paging through a send's messages, in order."""

    status = fields.Enum(MessageStatus, by_value=True, metadata=doc("Only messages with this status.", "undelivered"))


class HistoryPaging(MessagePaging):
    """Paging through the account's messages, newest send first."""

    phone = fields.Phone(metadata=doc("Only messages to this phone number.", PHONE))
    error = fields.String(
        validate=validate.OneOf(CATALOGUE, error=NO_SUCH_ERROR),
        metadata=doc("Only messages with this error.", "absent_subscriber", enum=ERROR_CODES),
    )
    permanent = fields.QueryBoolean(
        metadata=doc("Only messages with a permanent error, or with `false` only those with a temporary one.", "true"),
    )
    carrier = fields.String(
        validate=validate.Length(1, 40, error="A carrier's name has {min} to {max} characters."),
        metadata=doc("Only messages submitted to this carrier.", "acme-telecom"),
    )
    country = fields.Country(metadata=doc("Only messages to this country: two letters of ISO 3166-1.", "KE"))
    reference = fields.String(
        validate=validate.Length(1, MAX_REFERENCE_LENGTH, error="A reference has {min} to {max} characters."),
        metadata=doc("Only messages of sends with this reference.", "order A-1042"),
    )
    group_id = fields.UUID(metadata=doc("Only messages of sends to this group."))
    since = fields.Timestamp(metadata=doc("Only messages accepted at this time or later."))
    until = fields.Timestamp(metadata=doc("Only messages accepted before this time."))


class MessageSearch(HistoryPaging):
    """Paging through the account's messages, if need be with their texts."""

    texts = fields.QueryBoolean(
        load_default=False,
        metadata=doc(f"Whether to show each message's `text`; `limit` is then at most {MAX_TEXTS}.", "true"),
    )

    @validates_schema
    def few_texts(self, data: dict[str, Any], **_: Any) -> None:
        """A page with texts is short."""
        if data.get("texts") and data.get("limit", 0) > MAX_TEXTS:
            raise ValidationError({"limit": f"Use at most {MAX_TEXTS} with `texts`."})


class MessageErrorResponse(Schema):
    """Why a message was not delivered or is in doubt."""

    code = fields.String(
        required=True,
        metadata=doc("What went wrong: a code from `GET /errors?kind=message`.", "absent_subscriber", enum=ERROR_CODES),
    )
    permanent = fields.Boolean(
        required=True, metadata=doc("Whether the same message to this phone number would fail again.", False)
    )
    carrier = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The carrier that reported it; null if no carrier was involved.", "acme-telecom"),
    )
    carrier_code = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The carrier's own code; null if it gave none.", "UNDELIV:027"),
    )
    text = fields.String(
        required=True, metadata=doc("Human-readable meaning of the code.", CATALOGUE["absent_subscriber"].meaning)
    )


class MessageResponse(Schema):
    """One message to one phone number."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, starting with the country code; null if it was erased.", PHONE),
    )
    status = fields.String(required=True, metadata=doc("Current status.", "undelivered", enum=STATUSES))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    segments = fields.Integer(required=True, metadata=doc("Segments of this message.", 1))
    cost = fields.Integer(
        required=True,
        metadata=doc("Credits: reserved, then charged; 0 if they were released.", 1),
    )
    category = fields.String(
        required=True,
        metadata=doc("The message's purpose, which decides its priority.", "transactional", enum=[*map(str, Category)]),
    )
    carrier = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The carrier that it was last submitted to; null if none.", "acme-telecom"),
    )
    country = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "The country of the phone number's prefix, as two letters of ISO 3166-1; null if it has none, or if the"
            " number was erased.",
            "KE",
        ),
    )
    group_id = fields.UUID(
        required=True, allow_none=True, metadata=doc("The group of a group send; null for other sends.")
    )
    error = fields.Nested(
        MessageErrorResponse,
        required=True,
        allow_none=True,
        metadata=doc("Why it was not delivered, or is in doubt; null if there was no error.", ERROR_EXAMPLE),
    )
    reference = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Your own reference, returned wherever the send appears.", "order A-1042"),
    )
    test = fields.Boolean(
        required=True,
        metadata=doc("Whether it belongs to the sandbox: it reaches no phone and uses play credits.", False),
    )
    submitted_at = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc(
            "When it was submitted to the carrier; null if it was not. If a crash left it in doubt, the latest possible"
            " time.",
            SENT_AT,
        ),
    )
    finished_at = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("When it got its final status; null if it has none yet.", DELIVERED_AT),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was accepted.", ACCEPTED_AT))


class FoundMessageResponse(MessageResponse):
    """One message to one phone number, as a search shows it."""

    text = fields.String(
        allow_none=True,
        metadata=doc(
            "The text sent to this phone number; null if it was erased. Only with `texts=true`.", "Your table is ready."
        ),
    )
