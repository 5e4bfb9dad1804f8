"""What the words of the API mean, each said once, with an example: for the OpenAPI document."""

from typing import Any, Final

from api.accept.schemas import MOST_PHONES
from shared.lifecycle import Category, MessageStatus, SendState
from shared.settings import IDEMPOTENCY_DAYS

DESCRIPTION = f"""
Send one SMS, a list of them, or one to every contact of a group. A 200 means: stored, paid for, and it will be sent,
or you will be told why not and get your credits back.

**Words.** A *send* is one accepted request, a *message* is one SMS to one phone, a *segment* is one part of it on the
air. One credit is one segment.

**Forms.** Bodies are JSON in UTF-8. Times are RFC 3339, and answers give them in UTC with `Z`. Ids are UUIDs, given
in lower case and read in any. Answers may get new fields: ignore those that you do not know.

**Trying again.** Give every send an `Idempotency-Key`: the same request with the same key has one effect and gets the
first answer again, so it is safe to repeat after a timeout. A key belongs to your account and the path of the request,
and is kept for {IDEMPOTENCY_DAYS} days; only successes are kept, so after a refusal the same key may be used again. The
first answer is for the API key that made the request: another one of your account gets 422, and nothing is done twice.
After 429 and 503 wait as long as `Retry-After` says.

**Placeholders.** `{{{{name}}}}` in a message is the recipient's value of that name; `{{{{name|friend}}}}` has a default
for who has none, and `{{{{{{{{name}}}}}}}}` is the text itself. Values are the `variables` of the request or of a
recipient, and the fields of a contact. Each message is priced as it is sent to that recipient; who lacks a value is
told of in `rejected`, before anything is charged.

**Test keys.** A test key (`smsk_test_…`) works in a sandbox of your account: its own groups, sends, opt-outs, webhooks,
idempotency keys and play credits, and a simulated carrier. It sees and changes nothing live, and a live key nothing of
the sandbox but its keys. Sender IDs are approved there at once. `POST /api/v1/sandbox/refill` fills the credits up.

**Lists** come in pages: give `next_cursor` of a page as `cursor` of the next, until it is null. A page for which little
of what was examined fits its filters may be shorter than `limit`, or empty, while `next_cursor` is not null.

**Errors** are problem details (RFC 9457); tell them apart by `code`. `GET /api/v1/errors` explains each of them, and
with `kind=message` what can go wrong with a message that was accepted. A method that a path does not have is 405
`method_not_allowed`, with `Allow`; a request that HTTP itself does not allow is 400 `bad_request`. Where a proxy in
front had no answer from us it is 502 `bad_gateway` or 504 `gateway_timeout`: repeat the request with the same
`Idempotency-Key`, because it may have had an effect.
"""
TAGS = {
    "auth": "Exchange an API key for a token, and take the token back.",
    "api-keys": "The keys that are exchanged: make, limit, rotate and revoke them.",
    "sms": "Send, or ask what it would cost.",
    "sender-ids": "In whose name messages are sent.",
    "suppressions": "Who has opted out.",
    "sends": "Accepted requests: where they are, and how to stop them.",
    "messages": "One SMS to one phone each: its status, and what happened to it.",
    "inbound": "Messages from phones. A STOP, in any of many languages, puts its phone on the opt-out list.",
    "webhooks": "Where events are posted, signed as Standard Webhooks 1.0 says, and what became of it.",
    "events": "The same events to be pulled, in order.",
    "balance": "Credits, and the ledger behind them.",
    "groups": "Contact groups and their contacts.",
    "usage": "What was sent, counted.",
    "erasures": "Erase a person, and the receipts of it.",
    "imports": "Files of contacts on their way into groups.",
    "sandbox": "The play credits of test keys.",
    "limits": "What the service takes at most.",
    "errors": "Every error code.",
}

SEND_ID, GROUP_ID = "019cad1e-3f78-7c3e-9b5f-2e61d08fa4b7", "019a8e51-3b7a-7f02-8c4d-5a9be7713c06"
BATCH_ID, MESSAGE_ID = "019cad1e-3f79-7a08-b3c6-91f24de50000", "019cad1e-3f79-7a08-b3c6-91f24de50001"
PHONE = "254711000000"
NOT_A_PHONE = "The phone starts with 0; start with the country code."
ACCEPTED_AT, SENT_AT, DELIVERED_AT = "2026-03-02T09:00:00.120Z", "2026-03-02T09:00:00.480Z", "2026-03-02T09:00:03.900Z"
EXPIRES_AT = "2026-03-05T09:00:00.120Z"
STATUSES, STATES = [str(status) for status in MessageStatus], [str(state) for state in SendState]

REJECTIONS = ["invalid_phone", "duplicate", "suppressed", "missing_variable", "too_many_segments", "unicode_rejected"]
REJECTIONS += [
    "destination_not_allowed",
    "recipient_limit",
    "message_empty",
    "message_too_long",
    "invalid_characters",
    "unknown_field",
    "wrong_type",
    "invalid",
]
Word = tuple[str, Any] | tuple[str, Any, dict[str, Any]]
WORDS: Final[dict[str, Word]] = {
    # name, or schema.name where a word needs more: what it is, an example of it, and more of JSON Schema
    "accepted": ("Will be sent to.", 3),
    "access_token": ("Goes into `Authorization: Bearer …`.", "eyJhIjoxLCJrIjoiYWtfNGYxYyJ9.aZ8x1A.Qm9nR2s"),
    "allow_duplicates": ("Send to a phone as often as it is listed; otherwise once.", False),
    "amount": ("Credits.", 3),
    "api_key": ("The API key.", "your-api-key"),
    "api_secret": ("The API key's secret.", "your-api-secret"),
    "at": ("When.", ACCEPTED_AT),
    "attempts": ("How often it was handed to a carrier.", 1),
    "backlog_messages": ("The account's messages that wait to be sent.", 0),
    "balance": ("Credits that can still be spent, after this.", 996),
    "Balance.balance": ("Credits that can still be spent; what a 402 compares.", 880),
    "Error.balance": ("Of `low_balance`: credits that are left.", 112),
    "Single.balance": ("Credits that can still be spent, after this.", 999),
    "batch_id": ("The slice of the send's recipients.", BATCH_ID),
    "body_bytes": ("The largest body, in bytes.", 65_536),
    "bulk_body_bytes": ("The largest body of /sms/send-bulk and /sms/quote, in bytes.", 8_388_608),
    "carrier": ("The carrier that took it.", "simulator"),
    "carrier_reference": ("The carrier's own id of the message.", "5f2c9a0e"),
    "category": ("What it is for: decides how soon its turn comes.", "transactional", {"enum": [*map(str, Category)]}),
    "characters": ("Unicode code points.", 20),
    "code": ("What it is, for programs.", "low_balance"),
    "field_codes": ("Of `validation_failed`: what can be wrong with a field.", None),
    "FieldCode.code": ("What is wrong with the field.", "invalid_phone"),
    "FieldCode.remediation": ("What to do about it.", "Send digits only, beginning with the country code."),
    "FieldError.code": ("What is wrong with it.", "invalid_phone"),
    "Rejected.code": ("Why.", "invalid_phone", {"enum": REJECTIONS}),
    "charged": (
        "Credits of its messages that a carrier took: `sent`, `delivered` and `undelivered`. What is neither charged"
        " nor waiting, sending or in doubt was given back.",
        3,
    ),
    "completed_at": ("When nothing was left to submit.", "2026-03-02T09:00:01.250Z"),
    "cost": ("Credits.", 3),
    "Send.cost": ("Credits that were reserved for it when it was accepted.", 3),
    "Single.cost": ("Credits.", 1),
    "count": ("Segments.", 1),
    "counts": ("What became of the recipients.", None),
    "Send.counts": (
        "Recipients at the door, and the accepted ones by message status.",
        {"submitted": 5, "accepted": 3, "duplicate": 1, "invalid": 1, "suppressed": 0, "removed": 0}
        | dict.fromkeys(STATUSES, 0)
        | {"sent": 1, "delivered": 2},
    ),
    "created_at": ("When it was accepted.", ACCEPTED_AT),
    "Transaction.created_at": ("When it was posted.", ACCEPTED_AT),
    "credit": ("The book that the credits went to.", "reserved"),
    "cursor": ("`next_cursor` of the page before.", "MDE5Y2FkMWUtM2Y3OS03YTA4LWIzYzYtOTFmMjRkZTUwMDAx"),
    "data": ("The entries.", None),
    "Events.data": (
        "What happened, oldest first.",
        [
            {"at": ACCEPTED_AT, "type": "accepted"},
            {"at": SENT_AT, "type": "sent", "carrier": "simulator", "carrier_reference": "5f2c9a0e", "attempts": 1},
            {"at": DELIVERED_AT, "type": "delivered", "error": None},
        ],
    ),
    "debit": ("The book that the credits came from.", "available"),
    "detail": ("What it is this time, for people.", NOT_A_PHONE),
    "duplicate": ("Dropped: listed before.", 1),
    "duplicate_of": ("The index at which the phone is listed first.", 0),
    "encoding": ("gsm7 where every character fits, else ucs2.", "gsm7", {"enum": ["gsm7", "ucs2"]}),
    "errors": ("Of `validation_failed`: every field that is wrong, 100 at most.", None),
    "errors_total": ("Of `validation_failed`: how many errors there are.", 1),
    "eta": ("When the last message should be handed over; null where nobody knows.", None),
    "expires_at": ("When it is given up.", EXPIRES_AT),
    "Token.expires_at": ("When the token ends.", "2026-03-03T09:00:00.000Z"),
    "expires_in": ("Seconds until the token ends.", 86_400),
    "finished_at": ("When the last word on it came: of a canceled or expired one, when it ended.", DELIVERED_AT),
    "group_id": ("The group, of a group send.", None),
    "GroupSend.group_id": ("A group of the account.", GROUP_ID),
    "id": ("Grows with every row.", 4711),
    "idempotency_days": ("How long an Idempotency-Key is remembered, in days.", IDEMPOTENCY_DAYS),
    "index": ("The recipient's place in `phones`, from 0; null of a contact of a group.", 3),
    "instance": ("The path of the request.", "/api/v1/sms/send"),
    "invalid": ("Not a phone, or without a value that the message needs; `rejected` tells.", 1),
    "kind": ("What was asked for.", "bulk", {"enum": ["single", "bulk", "group"]}),
    "Transaction.kind": ("Why.", "reserve", {"enum": ["topup", "reserve", "capture", "release", "refund", "reversal"]}),
    "limit": ("Entries on a page, 1 to 1,000.", 50),
    "GroupPaging.limit": ("Entries on a page, 1 to 1,000; without it and `cursor`, all groups.", 50),
    "low_balance_threshold": ("Below this the balance counts as low.", 100),
    "max": ("Of `too_many_recipients`: how many are taken.", MOST_PHONES),
    "max_segments": ("Refuse the message when it takes more.", 2),
    "Error.max_segments": ("Of `too_many_segments`: how many it may take.", 2),
    "message": ("The text; `{{name}}` and `{{name|default}}` are placeholders.", "Your table is ready."),
    "message_characters": ("The longest message, in Unicode code points.", 1600),
    "message_id": ("The message.", MESSAGE_ID),
    "messages": ("The accepted recipients in order, 1,000 at most; of a group send, none.", None),
    "messages_truncated": ("Whether there are more messages than this: see `messages_url`.", True),
    "messages_url": ("Where all messages of the send are listed.", f"/api/v1/sends/{SEND_ID}/messages"),
    "metadata": ("Yours, as it was given.", {"order": "A-1042"}),
    "metadata_bytes": ("The largest `metadata`, in bytes.", 2048),
    "next_cursor": ("The `cursor` of the next page; null on the last.", None),
    "on_unicode": ("What to do with a message that does not fit GSM-7.", "send"),
    "page_items": ("The longest page.", 1000),
    "parts": ("The text as it is cut, one entry a segment; none where the messages differ.", ["Your table is ready."]),
    "per_message": ("Segments of each message; null where they differ.", 1),
    "phone": ("Digits only, beginning with the country code.", PHONE),
    "Rejected.phone": ("As it was given; null where it was no text.", "0712"),
    "phones": (
        "1 to 100,000 phones: digits only, beginning with the country code; or objects with `phone` and `variables`,"
        " values for the placeholders of the message.",
        [PHONE, "254711000001"],
    ),
    "phones_per_request": ("The most recipients of one bulk send.", MOST_PHONES),
    "pointer": ("The field, as a JSON pointer (RFC 6901); of a query or a header, its name.", "/phone"),
    "rate": ("Segments per second, at most.", 50),
    "Send.rate": ("Segments per second, at most; null: as fast as the route goes.", None),
    "reason": ("Of a top-up, its reversal, or a refund: why.", None),
    "reference": ("Yours; comes back everywhere.", "order A-1042"),
    "rejected": (
        "The recipients that were not accepted, 1,000 at most.",
        [
            {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
            {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
        ],
    ),
    "Error.rejected": (
        "Of `no_valid_recipients` and `no_valid_contacts`: why each one is not valid, 100 at most.",
        None,
    ),
    "rejected_truncated": ("Whether there are more than this.", True),
    "remediation": ("What to do about it.", "Top up, or send to fewer recipients."),
    "request_id": ("Also in X-Request-Id. Tell it to the operator.", "req_5b0a8e6f1d2c3b4a"),
    "requests_per_second": ("Requests per second that are taken from the account.", 10_000),
    "required": ("Of `low_balance`: credits that it needs.", 240),
    "reserved": ("Credits set aside for messages that are on their way.", 120),
    "retryable": ("Whether the same request may succeed later.", False),
    "revoked": ("The token is dead.", True),
    "schedule_days_ahead": ("How far ahead a send can be scheduled, in days.", 90),
    "scope": ("What the token may be used for, separated by spaces.", "balance:read groups:read sms:read sms:send"),
    "Error.scope": ("Of `insufficient_scope`: what the token lacks.", "sms:send"),
    "segments": ("How many, and in which encoding.", None),
    "Error.segments": ("Of `too_many_segments`: how many the message takes.", 3),
    "resent": ("Submits that were repeated because an earlier one had no answer; only where the operator wants it.", 0),
    "send_at": ("When it is due; null: at once.", None),
    "send_id": ("The send.", SEND_ID),
    "send_status": ("Of `state_conflict`: the status in which it is not possible.", "completed"),
    "sender_id": ("The sender ID.", "ACME"),
    "sender_status": ("Of `sender_not_approved`: where it stands.", "pending"),
    "since": ("Accepted at this time or later.", "2026-03-01T00:00:00Z"),
    "status": ("Where it is.", "queued", {"enum": STATES}),
    "Send.status": ("Where it is.", "completed", {"enum": STATES}),
    "SendPaging.status": ("Only sends with this status.", "sending"),
    "MessagePaging.status": ("Only messages with this status.", "undelivered"),
    "HistoryPaging.status": ("Only messages with this status.", "undelivered"),
    "Error.status": ("The HTTP status.", 402),
    "ErrorEntry.status": ("The HTTP status; null of errors of messages.", 402),
    "simulated": (
        "Present where the whole installation sends to the simulated carrier (`CARRIER=simulator`): the message reaches"
        " no phone.",
        True,
    ),
    "strict": ("All recipients, or nothing.", False),
    "submitted": ("Recipients in the request, or contacts in the group.", 5),
    "Error.submitted": ("Of `too_many_recipients`: how many were given.", MOST_PHONES + 1),
    "submitted_at": (
        "When it was handed to the carrier; where a crash left it in doubt, no later than this. Null: it was not.",
        SENT_AT,
    ),
    "sufficient": ("Whether the balance covers it.", True),
    "suggestion": ("What was probably meant.", "254712000000"),
    "suppressed": ("Opted out, in a destination that the account may not send to, or over the recipient limit.", 0),
    "test": ("Of the sandbox, accepted with a test key: it reaches no phone and takes play credits.", False),
    "title": ("What it is, for people.", "Low balance"),
    "token": ("The token to revoke; without it, the one in use.", "eyJhIjoxLCJrIjoiYWtfNGYxYyJ9.aZ8x1A.Qm9nR2s"),
    "token_seconds": ("How long a token is valid, in seconds.", 86_400),
    "token_type": ("Always Bearer.", "Bearer"),
    "total": ("Segments of all messages; of a group that gets different ones, at most, until it is expanded.", 3),
    "type": ("Where the error is explained.", "/api/v1/errors/low_balance"),
    "Event.type": (
        "What happened: `accepted`, `due`, `attempt_failed`, or the status that the message got.",
        "delivered",
    ),
    "variables": ("Values for the placeholders of the message, by name.", {"name": "Ann"}),
    "unit": ("One credit is one segment of an SMS.", "sms"),
    "until": ("Accepted before this time.", "2026-03-02T00:00:00Z"),
    "updated_at": ("When it changed last.", "2026-03-02T09:00:01.250Z"),
}
