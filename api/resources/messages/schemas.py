"""Schemas of messages."""

from typing import Any

from marshmallow import ValidationError, validate, validates_schema

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import ACCEPTED_AT, DELIVERED_AT, GROUP_ID, MESSAGE_ID, PHONE, SEND_ID, SENT_AT
from api.schemas.fields import MAX_REFERENCE_LENGTH
from api.schemas.paging import Paging
from api.schemas.send_options import OfSend
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import error_of
from shared.lifecycle import Category, MessageStatus

NO_SUCH_ERROR = "There is no such message error; GET /api/v1/errors?kind=message lists them all."
ERROR_CODES = [*CATALOGUE]
MAX_TEXTS = 100
"""Entries of a page with texts."""
STATUSES = [str(status) for status in MessageStatus]
ERROR_EXAMPLE = error_of("undelivered", "absent_subscriber=UNDELIV:027", "acme-telecom")


def status_filter() -> fields.Enum:
    """The filter by status."""
    return fields.Enum(MessageStatus, "Only messages with this status.", "undelivered")


class MessagePaging(Paging):
    """Paging through a send's messages, in order."""

    status = status_filter()


class MessageFilters(Request):
    """What to look for in an account's messages."""

    phone = fields.Phone("Only messages to this phone number.", PHONE)
    error = fields.Choice(CATALOGUE, "Only messages with this error.", "absent_subscriber", error=NO_SUCH_ERROR)
    permanent: fields.Boolean = fields.QueryBoolean(
        "Only messages with a permanent error, or with `false` only those with a temporary one.", "true"
    )
    carrier = fields.String(
        "Only messages submitted to this carrier.",
        "acme-telecom",
        validate=validate.Length(1, 40, error="A carrier's name has {min} to {max} characters."),
    )
    country = fields.Country("Only messages to this country: two letters of ISO 3166-1.", "KE")
    reference = fields.String(
        "Only messages of recipients or sends with this reference; those of recipients come first.",
        "order A-1042",
        validate=validate.Length(1, MAX_REFERENCE_LENGTH, error="A reference has {min} to {max} characters."),
    )
    category = fields.Enum(Category, "Only messages of this category.", "transactional")
    group_id = fields.UUID("Only messages of sends to this group.", GROUP_ID)
    since = fields.Timestamp("Only messages accepted at this time or later.")
    until = fields.Timestamp("Only messages accepted before this time.")


class HistoryPaging(MessagePaging, MessageFilters):
    """Paging through the account's messages, newest send first."""


class MessageSearch(HistoryPaging):
    """Paging through the account's messages, if need be with their texts."""

    texts = fields.QueryBoolean(
        f"Whether to show each message's `text`; `limit` is then at most {MAX_TEXTS}.", "true", load_default=False
    )

    @validates_schema
    def few_texts(self, data: dict[str, Any], **_: Any) -> None:
        """A page with texts is short."""
        if data.get("texts") and data.get("limit", 0) > MAX_TEXTS:
            raise ValidationError({"limit": f"Use at most {MAX_TEXTS} with `texts`."})


class MessageErrorResponse(Response):
    """Why a message was not delivered or is in doubt."""

    code = fields.String(
        "What went wrong: a code from `GET /errors?kind=message`.", "absent_subscriber", one_of=ERROR_CODES
    )
    permanent = fields.Boolean("Whether the same message to this phone number would fail again.", False)
    carrier = fields.String(
        "The carrier that reported it; null if no carrier was involved.", "acme-telecom", allow_none=True
    )
    carrier_code = fields.String("The carrier's own code; null if it gave none.", "UNDELIV:027", allow_none=True)
    text = fields.String("Human-readable meaning of the code.", CATALOGUE["absent_subscriber"].meaning)


class MessageResponse(OfSend):
    """One message to one phone number."""

    message_id = fields.UUID("The message.", MESSAGE_ID)
    send_id = fields.UUID("The send.", SEND_ID)
    phone = fields.String("Digits only, starting with the country code; null if it was erased.", PHONE, allow_none=True)
    status = fields.String("Current status.", "undelivered", one_of=STATUSES)
    sender_id = fields.String("The sender ID.", "ACME")
    segments = fields.Integer("Segments of this message.", 1)
    cost = fields.Integer("Credits: reserved, then charged; 0 if they were released.", 1)
    category = fields.String("The message's purpose, which decides its priority.", "transactional", one_of=Category)
    carrier = fields.String("The carrier that it was last submitted to; null if none.", "acme-telecom", allow_none=True)
    country = fields.String(
        "The country of the phone number's prefix, as two letters of ISO 3166-1; null if it has none, or if the"
        " number was erased.",
        "KE",
        allow_none=True,
    )
    group_id = fields.UUID("The group of a group send; null for other sends.", allow_none=True)
    error = fields.Nested(
        MessageErrorResponse,
        "Why it was not delivered, or is in doubt; null if there was no error.",
        ERROR_EXAMPLE,
        allow_none=True,
    )
    submitted_at = fields.Timestamp(
        "When it was submitted to the carrier; null if it was not. If a crash left it in doubt, the latest possible"
        " time.",
        SENT_AT,
        allow_none=True,
    )
    finished_at = fields.Timestamp(
        "When it got its final status; null if it has none yet.", DELIVERED_AT, allow_none=True
    )
    created_at = fields.Timestamp("When it was accepted.", ACCEPTED_AT)


class FoundMessageResponse(MessageResponse):
    """One message to one phone number, as a search shows it."""

    text = fields.String(
        "The text sent to this phone number; null if it was erased. Only with `texts=true`.",
        "Your table is ready.",
        allow_none=True,
        required=False,
    )
