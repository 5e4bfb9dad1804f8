"""Texts of the OpenAPI document: the API's description, its tags, and its path variables."""

from typing import Final

from api.schemas.examples import (
    API_KEY,
    ERASURE_ID,
    EVENT_ID,
    GROUP_ID,
    IMPORT_ID,
    MESSAGE_ID,
    PHONE,
    SEND_ID,
    SENDER_UUID,
    WEBHOOK_ID,
)
from shared.settings import IDEMPOTENCY_DAYS

DESCRIPTION = f"""
Send one SMS, a list of them, or one to every contact of a group. A 200 means: stored, paid for, and it will be sent,
or you will be told why not and get your credits back.

**Words.** A *send* is one accepted request, a *message* is one SMS to one phone, a *segment* is one part of it on the
air. One credit is one segment.

**Forms.** Bodies are JSON in UTF-8. Times are RFC 3339, and answers give them in UTC with `Z`. Ids are UUIDs, given
in lower case and read in any. Answers may get new fields: ignore those that you do not know.

**Retries.** Give every send an `Idempotency-Key`: the same request with the same key has one effect and gets the
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
    "auth": "Exchange an API key for a token, and revoke tokens.",
    "api-keys": "API keys: create, restrict, rotate and revoke them.",
    "sms": "Send messages, or get a quote.",
    "sender-ids": "The names and numbers that messages are sent from.",
    "suppressions": "Phones that have opted out.",
    "sends": "Accepted requests: their progress, and how to change or stop them.",
    "messages": "Single messages: their status and timeline.",
    "inbound": "Messages from phones. A STOP, in any of many languages, puts its phone on the opt-out list.",
    "webhooks": "URLs that receive events, signed according to Standard Webhooks 1.0, and the deliveries to them.",
    "webhook-events": "What is posted to your webhooks.",
    "events": "The same events as a stream to pull, in order.",
    "balance": "Credits, and the ledger behind them.",
    "groups": "Contact groups and their contacts.",
    "usage": "Counts of sent messages.",
    "erasures": "Erase a person's data, and the receipts of erasures.",
    "imports": "Imports of contact files into groups.",
    "sandbox": "The play credits of the sandbox.",
    "limits": "The limits of the service and the account.",
    "errors": "Every error code.",
}

PATH_VARIABLES: Final[dict[str, tuple[str, str]]] = {
    "code": ("Machine-readable code.", "low_balance"),
    "erasure_id": ("The erasure; keep the id as the receipt.", ERASURE_ID),
    "event_id": ("The event: the same in each attempt, in every webhook (`webhook-id`) and in the stream.", EVENT_ID),
    "group_id": ("The group.", GROUP_ID),
    "import_id": ("The import.", IMPORT_ID),
    "key_id": ("The API key.", API_KEY),
    "message_id": ("The message.", MESSAGE_ID),
    "phone": ("Digits only, starting with the country code.", PHONE),
    "send_id": ("The send.", SEND_ID),
    "sender": ("The sender ID's `id`.", SENDER_UUID),
    "webhook_id": ("The webhook.", WEBHOOK_ID),
}
"""The description and an example of each path variable."""
