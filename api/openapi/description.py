"""Texts of the OpenAPI document: the API's description, its tags, and its path variables."""

from typing import Final

from api.schemas.examples import (
    API_KEY,
    ERASURE_ID,
    EVENT_ID,
    EXPORT_ID,
    GROUP_ID,
    IMPORT_ID,
    MESSAGE_ID,
    PHONE,
    SEND_ID,
    SENDER_UUID,
    SMPP_ID,
    VERIFICATION_ID,
    WEBHOOK_ID,
)
from api.schemas.people import INVITATION_ID, PERSON_ID, SESSION_ID
from shared.settings import IDEMPOTENCY_DAYS

DESCRIPTION = f"""
Send an SMS to one phone number, to a list of phone numbers, or to every contact of a group. A 200 means that the
send is stored and its credits are reserved. Each message will be sent, or you will learn why not and its credits will
be released.

**Terms.** A *send* is one accepted request. A *message* is one text to one phone number; it is sent
as one or more *segments*. One credit pays for one segment.

**Formats.** Bodies are JSON in UTF-8. Times are in RFC 3339; responses give them in UTC with `Z`. Ids are UUIDs;
responses give them in lower case, and requests may use either case. Responses may get new fields: ignore fields that
you do not know.

**Retries.** Give every send an `Idempotency-Key`. A repeated request with the same key has no further effect and gets
the first response again, so you can safely repeat a request after a timeout. A key belongs to your account and the
request's path, and is kept for {IDEMPOTENCY_DAYS} days. Only successes are kept, so you can reuse the key after an
error. The first response is only for the API key or person that made the request: others of your account get 422. After
429 and 503, wait for the time in `Retry-After`.

**Placeholders.** In a message, `{{{{name}}}}` stands for the recipient's value of that name. `{{{{name|friend}}}}` has
a default for recipients without the value, and `{{{{{{{{name}}}}}}}}` is the literal text `{{{{name}}}}`. Values come
from the `variables` of the request or of a recipient, and from the fields of a contact. Each message is priced as its
recipient gets it. Recipients without a required value are reported in `rejected` and are not charged for.

**Test keys.** A test key (`smsk_test_…`) works in your account's sandbox, which has its own groups, sends, opt-outs,
webhooks, idempotency keys and play credits, and a simulated carrier. A test key cannot see or change live data, and a
live key cannot see or change anything in the sandbox except its API keys and SMPP credentials. In the sandbox, sender
IDs are approved at once, and `POST /api/v1/sandbox/refill` refills the credits.

**Lists** are paged: pass `next_cursor` of a page as `cursor` of the next one, until it is null. A page of a filtered
list may be shorter than `limit`, or even empty, although `next_cursor` is not null.

**Errors** are problem details (RFC 9457); distinguish them by `code`. `GET /api/v1/errors` explains each code, and with
`kind=message` the errors of accepted messages. A method that a path does not support gets 405 `method_not_allowed` with
`Allow`, and a malformed HTTP request gets 400 `bad_request`. If a proxy gets no response from the API, or the API none
from its database during a commit, you get 502 `bad_gateway` or 504 `gateway_timeout`: repeat the request with the same
`Idempotency-Key`, because it may have taken effect.
"""
TAGS = {
    "auth": "Exchange an API key for a token, and revoke tokens.",
    "people": "People who sign in: sessions, invitations, roles, and the audit log.",
    "api-keys": "API keys: create, restrict, rotate and revoke them.",
    "smpp-credentials": "Credentials for the SMPP server, their settings and their open binds. They may send and read"
    " messages, so a key that makes one must have `sms:send` and `sms:read`, and no tighter restrictions.",
    "sms": "Send messages and get quotes.",
    "verifications": "One-time passwords: codes that are sent to phones, and checked.",
    "sender-ids": "The names and numbers that messages are sent from.",
    "suppressions": "Phone numbers that have opted out.",
    "sends": "Accepted sends: show, change, pause, resume and cancel them.",
    "messages": "Single messages: their status, attempts and timeline.",
    "exports": "Files of any number of messages, made in the background.",
    "inbound": "Inbound messages. STOP, in any of many languages, adds the phone number to the opt-out list.",
    "webhooks": "URLs that receive events, signed according to Standard Webhooks 1.0, and the deliveries to them.",
    "webhook-events": "The events that are posted to your webhooks.",
    "events": "The same events as an ordered stream that you read.",
    "balance": "Credits, and the ledger behind them.",
    "statements": "What moved the balance, month by month.",
    "prices": "What a segment costs, now and next.",
    "groups": "Contact groups and their contacts.",
    "usage": "Counts of messages by day, sender ID, country, category and status.",
    "erasures": "Erase a person's data, and show the confirmations of erasures.",
    "imports": "Imports of contact files into groups.",
    "sandbox": "The sandbox's play credits.",
    "limits": "The limits of the service and the account.",
    "errors": "The catalogues of error codes.",
}

OF_PEOPLE = ("changes", "invitations", "me", "people", "sign-in")
"""Beginnings of the paths under the tag `people`."""

PATH_VARIABLES: Final[dict[str, tuple[str, str, str]]] = {
    "credential_id": ("The SMPP credential.", SMPP_ID, "not_found"),
    "code": ("The error code.", "low_balance", "error_not_found"),
    "erasure_id": ("The erasure; keep the id as the confirmation.", ERASURE_ID, "erasure_not_found"),
    "event_id": (
        "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.",
        EVENT_ID,
        "delivery_not_found",
    ),
    "export_id": ("The export.", EXPORT_ID, "export_not_found"),
    "group_id": ("The group.", GROUP_ID, "group_not_found"),
    "import_id": ("The import.", IMPORT_ID, "import_not_found"),
    "invitation_id": ("The invitation.", INVITATION_ID, "invitation_not_found"),
    "key_id": ("The API key.", API_KEY, "api_key_not_found"),
    "message_id": ("The message.", MESSAGE_ID, "message_not_found"),
    "month": ("The month, UTC.", "2026-03", "statement_not_found"),
    "person_id": ("The person.", PERSON_ID, "person_not_found"),
    "phone": ("Digits only, starting with the country code.", PHONE, "suppression_not_found"),
    "send_id": ("The send.", SEND_ID, "send_not_found"),
    "sender": ("The `id` of the sender ID.", SENDER_UUID, "sender_not_found"),
    "session_id": ("The session.", SESSION_ID, "session_not_found"),
    "verification_id": ("The verification.", VERIFICATION_ID, "verification_not_found"),
    "webhook_id": ("The webhook.", WEBHOOK_ID, "webhook_not_found"),
}
"""The description and an example of each path variable, and the error if the account has no such object."""
