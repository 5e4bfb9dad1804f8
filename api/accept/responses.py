"""What a send answers."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import ACCEPTED_AT, EXPIRES_AT, MESSAGE_ID, NOT_A_PHONE, PHONE, SEND_ID
from api.schemas.fields import doc
from shared.lifecycle import Category, SendState

REJECTIONS = [
    "invalid_phone",
    "duplicate",
    "suppressed",
    "missing_variable",
    "too_many_segments",
    "unicode_rejected",
    "destination_not_allowed",
    "recipient_limit",
    "message_empty",
    "message_too_long",
    "invalid_characters",
    "unknown_field",
    "wrong_type",
    "invalid",
]
"""Why a recipient is not accepted."""


class SegmentsResponse(Schema):
    """How one message is cut."""

    count = fields.Integer(required=True, metadata=doc("Segments.", 1))
    encoding = fields.String(
        required=True,
        metadata=doc("gsm7 where every character fits, else ucs2.", "gsm7", enum=["gsm7", "ucs2"]),
    )
    characters = fields.Integer(required=True, metadata=doc("Unicode code points.", 20))


class CharacterResponse(Schema):
    """A character that is not in GSM-7."""

    index = fields.Integer(required=True, metadata=doc("Its place in the message: code points, from 0.", 3))
    char = fields.String(required=True, metadata=doc("The character.", "\u2019"))
    codepoint = fields.String(required=True, metadata=doc("Its number in Unicode.", "U+2019"))
    replacement = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("What may stand in its place; empty: nothing, it does not show. Null: nothing will do.", "'"),
    )


class AlternativeResponse(Schema):
    """The text in GSM-7, as `on_unicode: transliterate` would send it, and its price."""

    text = fields.String(required=True, metadata=doc("The text in GSM-7.", "It's ready."))
    segments = fields.Integer(required=True, metadata=doc("Segments of one message.", 1))
    cost = fields.Integer(required=True, metadata=doc("Credits for all recipients.", 3))


class EncodingResponse(Schema):
    """Why the text is UCS-2, or what was changed for it not to be. Absent where the text is GSM-7 as it was given."""

    name = fields.String(
        required=True,
        metadata=doc("What the text is sent in.", "ucs2", enum=["gsm7", "ucs2"]),
    )
    cause = fields.List(
        fields.Nested(CharacterResponse),
        required=True,
        metadata=doc(
            "The characters that make it UCS-2, in their order: the first 20. Where texts differ by recipient, those"
            " of the message itself."
        ),
    )
    cause_count = fields.Integer(required=True, metadata=doc("How many such characters there are.", 1))
    changed = fields.List(
        fields.Nested(CharacterResponse),
        required=True,
        metadata=doc("The characters that were replaced, in their order: the first 20."),
    )
    changed_count = fields.Integer(required=True, metadata=doc("How many characters were replaced.", 0))
    gsm7_alternative = fields.Nested(
        AlternativeResponse,
        required=True,
        allow_none=True,
        metadata=doc(
            "What `on_unicode: transliterate` would send; null: it would change what the text says, or the texts"
            " differ."
        ),
    )


class SendFacts(Schema):
    """What every answer tells of a send."""

    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    category = fields.String(
        required=True,
        metadata=doc("What it is for: decides how soon its turn comes.", "transactional", enum=[*map(str, Category)]),
    )
    reference = fields.String(
        required=True, allow_none=True, metadata=doc("Yours; comes back everywhere.", "order A-1042")
    )
    test = fields.Boolean(
        required=True,
        metadata=doc("Of the sandbox, accepted with a test key: it reaches no phone and takes play credits.", False),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was accepted.", ACCEPTED_AT))


class AcceptedSendResponse(SendFacts):
    """What a send answers, whatever its recipients."""

    status = fields.String(required=True, metadata=doc("Where it is.", "queued", enum=[*map(str, SendState)]))
    cost = fields.Integer(required=True, metadata=doc("Credits.", 1))
    balance = fields.Integer(required=True, metadata=doc("Credits that can still be spent, after this.", 999))
    send_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it is due; null: at once."))
    expires_at = fields.Timestamp(required=True, metadata=doc("When it is given up.", EXPIRES_AT))
    simulated = fields.Boolean(
        metadata=doc(
            "Present where the whole installation sends to the simulated carrier (`CARRIER=simulator`): the message"
            " reaches no phone.",
            True,
        )
    )
    encoding = fields.Nested(
        EncodingResponse,
        metadata=doc(
            "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent where it is GSM-7 as given."
        ),
    )


class SingleResponse(AcceptedSendResponse):
    """An accepted message."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, beginning with the country code; null: it was erased.", PHONE),
    )
    segments = fields.Nested(SegmentsResponse, required=True, metadata=doc("How many, and in which encoding."))


class CountsResponse(Schema):
    """Recipients of one request."""

    submitted = fields.Integer(required=True, metadata=doc("Recipients in the request, or contacts in the group.", 5))
    accepted = fields.Integer(required=True, metadata=doc("Will be sent to.", 3))
    duplicate = fields.Integer(required=True, metadata=doc("Dropped: listed before.", 1))
    invalid = fields.Integer(
        required=True, metadata=doc("Not a phone, or without a value that the message needs; `rejected` tells.", 1)
    )
    suppressed = fields.Integer(
        required=True,
        metadata=doc("Opted out, in a destination that the account may not send to, or over the recipient limit.", 0),
    )


class BulkSegmentsResponse(Schema):
    """Segments of one message, and of all."""

    per_message = fields.Integer(
        required=True, allow_none=True, metadata=doc("Segments of each message; null where they differ.", 1)
    )
    encoding = fields.String(
        required=True, metadata=doc("gsm7 where every character fits, else ucs2.", "gsm7", enum=["gsm7", "ucs2"])
    )
    total = fields.Integer(
        required=True,
        metadata=doc(
            "Segments of all messages; of a group that gets different ones, at most, until it is expanded.", 3
        ),
    )


class RejectedResponse(Schema):
    """A recipient that was not accepted."""

    index = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("The recipient's place in `phones`, from 0; null of a contact of a group.", 3),
    )
    phone = fields.String(
        required=True, allow_none=True, metadata=doc("As it was given; null where it was no text.", "0712")
    )
    code = fields.String(required=True, metadata=doc("Why.", "invalid_phone", enum=REJECTIONS))
    detail = fields.String(
        allow_none=True, metadata=doc("What it is this time, for people; null: it was erased.", NOT_A_PHONE)
    )
    suggestion = fields.String(
        allow_none=True, metadata=doc("What was probably meant; null: it was erased.", "254712000000")
    )
    duplicate_of = fields.Integer(metadata=doc("The index at which the phone is listed first.", 0))


class AcceptedResponse(Schema):
    """A recipient's message."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, beginning with the country code; null: it was erased.", PHONE),
    )


class BulkResponse(AcceptedSendResponse):
    """An accepted bulk or group send."""

    group_id = fields.UUID(required=True, allow_none=True, metadata=doc("The group, of a group send."))
    counts = fields.Nested(CountsResponse, required=True, metadata=doc("What became of the recipients."))
    segments = fields.Nested(BulkSegmentsResponse, required=True, metadata=doc("How many, and in which encoding."))
    cost = fields.Integer(required=True, metadata=doc("Credits.", 3))
    balance = fields.Integer(required=True, metadata=doc("Credits that can still be spent, after this.", 996))
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        required=True,
        metadata=doc(
            "The recipients that were not accepted, 1,000 at most.",
            [
                {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
                {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
            ],
        ),
    )
    rejected_truncated = fields.Boolean(metadata=doc("Whether there are more than this.", True))
    messages = fields.List(
        fields.Nested(AcceptedResponse),
        required=True,
        metadata=doc("The accepted recipients in order, 1,000 at most; of a group send, none."),
    )
    messages_truncated = fields.Boolean(
        metadata=doc("Whether there are more messages than this: see `messages_url`.", True)
    )
    messages_url = fields.String(
        required=True, metadata=doc("Where all messages of the send are listed.", f"/api/v1/sends/{SEND_ID}/messages")
    )


class QuoteResponse(Schema):
    """What a send would cost and reject."""

    counts = fields.Nested(CountsResponse, required=True, metadata=doc("What became of the recipients."))
    segments = fields.Nested(BulkSegmentsResponse, required=True, metadata=doc("How many, and in which encoding."))
    parts = fields.List(
        fields.String(),
        required=True,
        metadata=doc(
            "The text as it is cut, one entry a segment; none where the messages differ.", ["Your table is ready."]
        ),
    )
    cost = fields.Integer(required=True, metadata=doc("Credits.", 3))
    quote_id = fields.UUID(required=True, metadata=doc("Give it to the send.", "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38"))
    quote_expires_at = fields.Timestamp(
        required=True, metadata=doc("Until when the quote holds: 15 minutes.", "2026-03-02T09:15:00.120Z")
    )
    balance = fields.Integer(required=True, metadata=doc("Credits that can still be spent, after this.", 996))
    sufficient = fields.Boolean(required=True, metadata=doc("Whether the balance covers it.", True))
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        required=True,
        metadata=doc(
            "The recipients that were not accepted, 1,000 at most.",
            [
                {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
                {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
            ],
        ),
    )
    rejected_truncated = fields.Boolean(metadata=doc("Whether there are more than this.", True))
    encoding = fields.Nested(
        EncodingResponse,
        metadata=doc(
            "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent where it is GSM-7 as given."
        ),
    )
