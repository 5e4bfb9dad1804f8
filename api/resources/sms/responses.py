"""Response schemas of sends."""

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
"""Reasons why a recipient is not accepted."""


class SegmentsResponse(Schema):
    """The segments of one message."""

    count = fields.Integer(required=True, metadata=doc("Number of segments.", 1))
    encoding = fields.String(
        required=True,
        metadata=doc("`gsm7` if every character fits, otherwise `ucs2`.", "gsm7", enum=["gsm7", "ucs2"]),
    )
    characters = fields.Integer(required=True, metadata=doc("Number of Unicode code points.", 20))


class CharacterResponse(Schema):
    """A character that is not in GSM-7."""

    index = fields.Integer(required=True, metadata=doc("Position in the message, in code points from 0.", 3))
    char = fields.String(required=True, metadata=doc("The character.", "\u2019"))
    codepoint = fields.String(required=True, metadata=doc("Its Unicode code point.", "U+2019"))
    replacement = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "Its GSM-7 replacement; empty if the character is invisible and can be dropped, null if there is none.", "'"
        ),
    )


class AlternativeResponse(Schema):
    """The text in GSM-7, as `on_unicode: transliterate` would send it, and its price."""

    text = fields.String(required=True, metadata=doc("The text in GSM-7.", "It's ready."))
    segments = fields.Integer(required=True, metadata=doc("Segments of one message.", 1))
    cost = fields.Integer(required=True, metadata=doc("Credits for all recipients.", 3))


class EncodingResponse(Schema):
    """Why the text is UCS-2, or what was changed to avoid it. Absent if the given text is GSM-7."""

    name = fields.String(
        required=True,
        metadata=doc("The encoding in which the text is sent.", "ucs2", enum=["gsm7", "ucs2"]),
    )
    cause = fields.List(
        fields.Nested(CharacterResponse),
        required=True,
        metadata=doc(
            "The first 20 characters that make it UCS-2, in order. If texts differ by recipient, only those"
            " of the message itself."
        ),
    )
    cause_count = fields.Integer(required=True, metadata=doc("Number of all these characters.", 1))
    changed = fields.List(
        fields.Nested(CharacterResponse),
        required=True,
        metadata=doc("The first 20 characters that were replaced, in order."),
    )
    changed_count = fields.Integer(required=True, metadata=doc("Number of replaced characters.", 0))
    gsm7_alternative = fields.Nested(
        AlternativeResponse,
        required=True,
        allow_none=True,
        metadata=doc(
            "What `on_unicode: transliterate` would send; null if it would change the meaning, or if the texts differ."
        ),
    )


class AcceptedSendResponse(Schema):
    """An accepted send."""

    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    category = fields.String(
        required=True,
        metadata=doc("The message's purpose, which decides its priority.", "transactional", enum=[*map(str, Category)]),
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
    created_at = fields.Timestamp(required=True, metadata=doc("When it was accepted.", ACCEPTED_AT))
    status = fields.String(required=True, metadata=doc("Current status.", "queued", enum=[*map(str, SendState)]))
    cost = fields.Integer(required=True, metadata=doc("The cost of the send, in credits.", 1))
    balance = fields.Integer(required=True, metadata=doc("Credits left to spend after this.", 999))
    send_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it is due; null means at once."))
    expires_at = fields.Timestamp(required=True, metadata=doc("When unsent messages expire.", EXPIRES_AT))
    simulated = fields.Boolean(
        metadata=doc(
            "Present if the whole installation uses the simulated carrier (`CARRIER=simulator`), so that no message"
            " reaches a phone.",
            True,
        )
    )
    encoding = fields.Nested(
        EncodingResponse,
        metadata=doc(
            "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7."
        ),
    )


class SingleResponse(AcceptedSendResponse):
    """An accepted message."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, starting with the country code; null if it was erased.", PHONE),
    )
    segments = fields.Nested(SegmentsResponse, required=True, metadata=doc("Number of segments, and their encoding."))


class CountsResponse(Schema):
    """Numbers of recipients, by outcome."""

    submitted = fields.Integer(
        required=True, metadata=doc("Recipients in the request, or contacts in the group, whether accepted or not.", 5)
    )
    accepted = fields.Integer(required=True, metadata=doc("Recipients that a message will be sent to.", 3))
    duplicate = fields.Integer(required=True, metadata=doc("Recipients dropped because they were listed before.", 1))
    invalid = fields.Integer(
        required=True,
        metadata=doc("Invalid phone numbers, or recipients without a value that the message needs; see `rejected`.", 1),
    )
    suppressed = fields.Integer(
        required=True,
        metadata=doc("Recipients that opted out, are in a destination not allowed, or are over their limit.", 0),
    )


class BulkSegmentsResponse(Schema):
    """Segments of one message, and of all messages."""

    per_message = fields.Integer(
        required=True, allow_none=True, metadata=doc("Segments of each message; null if messages differ.", 1)
    )
    encoding = fields.String(
        required=True, metadata=doc("`gsm7` if every character fits, otherwise `ucs2`.", "gsm7", enum=["gsm7", "ucs2"])
    )
    total = fields.Integer(
        required=True,
        metadata=doc("Segments of all messages; an upper bound for a group with placeholders until it is expanded.", 3),
    )


class RejectedResponse(Schema):
    """A recipient that was not accepted."""

    index = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("The recipient's index in `phones`, from 0; null for a contact of a group.", 3),
    )
    phone = fields.String(
        required=True, allow_none=True, metadata=doc("As given; null if it was not a string.", "0712")
    )
    code = fields.String(required=True, metadata=doc("Why it was rejected.", "invalid_phone", enum=REJECTIONS))
    detail = fields.String(
        allow_none=True, metadata=doc("Human-readable explanation; null if it was erased.", NOT_A_PHONE)
    )
    suggestion = fields.String(
        allow_none=True,
        metadata=doc("The phone number that was probably meant; null if it was erased.", "254712000000"),
    )
    duplicate_of = fields.Integer(metadata=doc("The index of the phone number's first occurrence.", 0))


class AcceptedResponse(Schema):
    """A recipient's message."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Digits only, starting with the country code; null if it was erased.", PHONE),
    )


class BulkResponse(AcceptedSendResponse):
    """An accepted bulk or group send."""

    group_id = fields.UUID(
        required=True, allow_none=True, metadata=doc("The group of a group send; null for other sends.")
    )
    counts = fields.Nested(CountsResponse, required=True, metadata=doc("Numbers of accepted and rejected recipients."))
    segments = fields.Nested(
        BulkSegmentsResponse, required=True, metadata=doc("Number of segments, and their encoding.")
    )
    cost = fields.Integer(required=True, metadata=doc("The cost of the send, in credits.", 3))
    balance = fields.Integer(required=True, metadata=doc("Credits left to spend after this.", 996))
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        required=True,
        metadata=doc(
            "The recipients that were not accepted, at most 1,000.",
            [
                {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
                {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
            ],
        ),
    )
    rejected_truncated = fields.Boolean(metadata=doc("Whether more were rejected than `rejected` lists.", True))
    messages = fields.List(
        fields.Nested(AcceptedResponse),
        required=True,
        metadata=doc("The accepted recipients in order, at most 1,000; none for a group send."),
    )
    messages_truncated = fields.Boolean(
        metadata=doc("Whether there are more messages than listed here; see `messages_url`.", True)
    )
    messages_url = fields.String(
        required=True, metadata=doc("URL that lists all messages of the send.", f"/api/v1/sends/{SEND_ID}/messages")
    )
