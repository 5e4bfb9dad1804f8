"""Response schemas of sends."""

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import ACCEPTED_AT, EXPIRES_AT, MESSAGE_ID, NOT_A_PHONE, PHONE, SEND_ID
from api.schemas.send_options import OfSend
from shared.lifecycle import Category, SendState

REJECTIONS = [
    "invalid_phone",
    "duplicate",
    "suppressed",
    "missing_variable",
    "too_many_segments",
    "unicode_rejected",
    "destination_not_allowed",
    "no_price",
    "recipient_limit",
    "message_empty",
    "message_too_long",
    "invalid_characters",
    "unknown_field",
    "wrong_type",
    "invalid",
]
"""Reasons why a recipient is not accepted."""


class SegmentsResponse(Response):
    """The segments of one message."""

    count = fields.Integer("Number of segments.", 1)
    encoding = fields.String("`gsm7` if every character fits, otherwise `ucs2`.", "gsm7", one_of=["gsm7", "ucs2"])
    characters = fields.Integer("Number of Unicode code points.", 20)


class CharacterResponse(Response):
    """A character that is not in GSM-7."""

    index = fields.Integer("Position in the message, in code points from 0.", 3)
    char = fields.String("The character.", "\u2019")
    codepoint = fields.String("Its Unicode code point.", "U+2019")
    replacement = fields.String(
        "Its GSM-7 replacement; empty if the character is invisible and can be dropped, null if there is none.",
        "'",
        allow_none=True,
    )


class AlternativeResponse(Response):
    """The text in GSM-7, as `on_unicode: transliterate` would send it, and its price."""

    text = fields.String("The text in GSM-7.", "It's ready.")
    segments = fields.Integer("Segments of one message.", 1)
    cost = fields.Integer("Credits for all recipients.", 3)


class EncodingResponse(Response):
    """Why the text is UCS-2, or what was changed to avoid it. Absent if the given text is GSM-7."""

    name = fields.String("The encoding in which the text is sent.", "ucs2", one_of=["gsm7", "ucs2"])
    cause = fields.List(
        fields.Nested(CharacterResponse),
        "The first 20 characters that make it UCS-2, in order. If texts differ by recipient, only those"
        " of the message itself.",
    )
    cause_count = fields.Integer("Number of all these characters.", 1)
    changed = fields.List(fields.Nested(CharacterResponse), "The first 20 characters that were replaced, in order.")
    changed_count = fields.Integer("Number of replaced characters.", 0)
    gsm7_alternative = fields.Nested(
        AlternativeResponse,
        "What `on_unicode: transliterate` would send; null if it would change the meaning, or if the texts differ.",
        allow_none=True,
    )


class AcceptedSendResponse(OfSend):
    """An accepted send."""

    send_id = fields.UUID("The send.", SEND_ID)
    sender_id = fields.String("The sender ID.", "ACME")
    category = fields.String("The message's purpose, which decides its priority.", "transactional", one_of=Category)
    created_at = fields.Timestamp("When it was accepted.", ACCEPTED_AT)
    status = fields.String("Current status.", "queued", one_of=SendState)
    cost = fields.Integer("The cost of the send, in credits.", 1)
    balance = fields.Integer("Credits left to spend after this.", 999)
    send_at = fields.Timestamp("When it is due; null means at once.", allow_none=True)
    expires_at = fields.Timestamp("When unsent messages expire.", EXPIRES_AT)
    simulated = fields.Boolean(
        "Present if the whole installation uses the simulated carrier (`CARRIER=simulator`), so that no message"
        " reaches a phone.",
        True,
        required=False,
    )
    encoding = fields.Nested(
        EncodingResponse,
        "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7.",
        required=False,
    )


class SingleResponse(AcceptedSendResponse):
    """An accepted message."""

    message_id = fields.UUID("The message.", MESSAGE_ID)
    phone = fields.String("Digits only, starting with the country code; null if it was erased.", PHONE, allow_none=True)
    segments = fields.Nested(SegmentsResponse, "Number of segments, and their encoding.")


class CountsResponse(Response):
    """Numbers of recipients, by outcome."""

    submitted = fields.Integer("Recipients in the request, or contacts in the group, whether accepted or not.", 5)
    accepted = fields.Integer("Recipients that a message will be sent to.", 3)
    duplicate = fields.Integer("Recipients dropped because they were listed before.", 1)
    invalid = fields.Integer(
        "Invalid phone numbers, or recipients without a value that the message needs; see `rejected`.", 1
    )
    suppressed = fields.Integer(
        "Recipients that opted out, are in a destination not allowed, or are over their limit.", 0
    )


class BulkSegmentsResponse(Response):
    """Segments of one message, and of all messages."""

    per_message = fields.Integer("Segments of each message; null if messages differ.", 1, allow_none=True)
    encoding = fields.String("`gsm7` if every character fits, otherwise `ucs2`.", "gsm7", one_of=["gsm7", "ucs2"])
    total = fields.Integer(
        "Segments of all messages; an upper bound for a group with placeholders until it is expanded.", 3
    )


class RejectedResponse(Response):
    """A recipient that was not accepted."""

    index = fields.Integer(
        "The recipient's index in `phones`, from 0; null for a contact of a group.", 3, allow_none=True
    )
    phone = fields.String("As given; null if it was not a string.", "0712", allow_none=True)
    code = fields.String("Why it was rejected.", "invalid_phone", one_of=REJECTIONS)
    detail = fields.String(
        "Human-readable explanation; null if it was erased.", NOT_A_PHONE, allow_none=True, required=False
    )
    suggestion = fields.String(
        "The phone number that was probably meant; null if it was erased.",
        "254712000000",
        allow_none=True,
        required=False,
    )
    duplicate_of = fields.Integer("The index of the phone number's first occurrence.", 0, required=False)


class AcceptedResponse(Response):
    """A recipient's message."""

    message_id = fields.UUID("The message.", MESSAGE_ID)
    phone = fields.String("Digits only, starting with the country code; null if it was erased.", PHONE, allow_none=True)
    reference = fields.String(
        "The recipient's own reference; absent without one, null if it was erased.",
        "order A-1042",
        allow_none=True,
        required=False,
    )


class CountryCostResponse(Response):
    """Messages to a country, and what they cost."""

    country = fields.String("ISO 3166-1 code; null for none, such as satellite phones.", "KE", allow_none=True)
    messages = fields.Integer("Number of messages.", 2)
    cost = fields.Integer("Credits.", 24)


class RecipientsResponse(Response):
    """The recipients of a send or a quote, and their segments."""

    counts = fields.Nested(CountsResponse, "Numbers of accepted and rejected recipients.")
    segments = fields.Nested(BulkSegmentsResponse, "Number of segments, and their encoding.")
    countries = fields.List(
        fields.Nested(CountryCostResponse),
        "What the messages cost by country, the dearest first; those to a group at most. Only if prices differ.",
        [{"country": "KE", "messages": 2, "cost": 24}, {"country": "DE", "messages": 1, "cost": 90}],
        required=False,
    )
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        "The recipients that were not accepted, at most 1,000.",
        [
            {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
            {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
        ],
    )
    rejected_truncated = fields.Boolean("Whether more were rejected than `rejected` lists.", True, required=False)


class BulkResponse(AcceptedSendResponse, RecipientsResponse):
    """An accepted bulk or group send."""

    group_id = fields.UUID("The group of a group send; null for other sends.", allow_none=True)
    cost = fields.Integer("The cost of the send, in credits.", 3)
    balance = fields.Integer("Credits left to spend after this.", 996)
    messages = fields.List(
        fields.Nested(AcceptedResponse), "The accepted recipients in order, at most 1,000; none for a group send."
    )
    messages_truncated = fields.Boolean(
        "Whether there are more messages than listed here; see `messages_url`.", True, required=False
    )
    messages_url = fields.String("URL that lists all messages of the send.", f"/api/v1/sends/{SEND_ID}/messages")
