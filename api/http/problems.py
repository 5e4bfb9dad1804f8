"""Every error that the API answers, in one place and one shape: RFC 9457 problem details."""

from typing import Any, NamedTuple


class Kind(NamedTuple):
    """What is always the same about an error."""

    status: int
    title: str
    remediation: str
    retryable: bool = False


UNKNOWN = (
    "It may have had an effect. Repeat it with the same Idempotency-Key; without one, see first what became of it."
)

CATALOGUE: dict[str, Kind] = {
    "bad_request": Kind(400, "Bad request", "Compare the request with /openapi.json."),
    "invalid_json": Kind(400, "Invalid JSON", "Send one JSON object, in UTF-8, with each key once."),
    "validation_failed": Kind(400, "Validation failed", "Correct the fields named in `errors`."),
    "too_many_recipients": Kind(400, "Too many recipients", "Split the recipients over several requests."),
    "no_valid_recipients": Kind(400, "No valid recipients", "See `rejected` for the reason of each recipient."),
    "no_valid_contacts": Kind(400, "No valid contacts", "See `rejected` for the reason of each entry."),
    "group_empty": Kind(400, "Group is empty", "Add contacts to the group first."),
    "too_many_segments": Kind(400, "Too many segments", "Shorten the message, or raise `max_segments`."),
    "unicode_rejected": Kind(
        422, "Message needs Unicode", "Use GSM-7 characters only, or set `on_unicode` to `send` or `transliterate`."
    ),
    "invalid_credentials": Kind(401, "Invalid credentials", "Check the API key and secret."),
    "missing_token": Kind(401, "Missing token", "Send `Authorization: Bearer <ACCESS_TOKEN>` from /auth/token."),
    "invalid_token": Kind(401, "Invalid token", "Get a new token from /auth/token."),
    "token_expired": Kind(401, "Token expired", "Get a new token from /auth/token; it is valid for 24 hours."),
    "token_revoked": Kind(401, "Token revoked", "Get a new token from /auth/token."),
    "low_balance": Kind(402, "Low balance", "Top up, or send to fewer recipients."),
    "spend_limit_reached": Kind(402, "Spend limit reached", "Wait until `resets_at`, or ask the operator for more."),
    "sender_not_registered": Kind(403, "Sender ID not registered", "Use a sender ID that your account registered."),
    "sender_not_approved": Kind(403, "Sender ID not approved", "Wait for the approval, or use an approved sender ID."),
    "category_not_allowed": Kind(
        403, "Category not allowed", "Use another category, or ask the operator for `authentication`."
    ),
    "destination_not_allowed": Kind(
        403, "Destination not allowed", "Send to the destinations in /limits, or ask the operator for more."
    ),
    "traffic_refused": Kind(
        403, "Unusual traffic refused", "Stop who misuses your form; if it is wanted, tell the operator."
    ),
    "recipient_suppressed": Kind(403, "Recipient has opted out", "Do not send to this phone."),
    "insufficient_scope": Kind(403, "Insufficient scope", "Use a key that has the scope named in `scope`."),
    "ip_not_allowed": Kind(403, "Address not allowed", "Use the key from one of the networks in its `allowed_ips`."),
    "sandbox_only": Kind(403, "Only in a sandbox", "Use a test key; live credits are topped up by the operator."),
    "account_suspended": Kind(403, "Account suspended", "Ask the operator of the service."),
    "not_found": Kind(404, "Not found", "Check the path and the id."),
    "group_not_found": Kind(404, "Group not found", "List your groups with GET /api/v1/groups."),
    "send_not_found": Kind(404, "Send not found", "List your sends with GET /api/v1/sends."),
    "import_not_found": Kind(404, "Import not found", "List your imports with GET /api/v1/imports."),
    "message_not_found": Kind(404, "Message not found", "List your messages with GET /api/v1/messages."),
    "api_key_not_found": Kind(404, "API key not found", "List your keys with GET /api/v1/api-keys."),
    "suppression_not_found": Kind(404, "Not on the list", "List who has opted out with GET /api/v1/suppressions."),
    "sender_not_found": Kind(404, "Sender ID not found", "List your sender IDs with GET /api/v1/sender-ids."),
    "webhook_not_found": Kind(404, "Webhook not found", "List your webhooks with GET /api/v1/webhooks."),
    "delivery_not_found": Kind(404, "Delivery not found", "List the webhook's deliveries."),
    "erasure_not_found": Kind(404, "Erasure not found", "List your erasures with GET /api/v1/erasures."),
    "error_not_found": Kind(404, "Error code not found", "List the codes with GET /api/v1/errors."),
    "method_not_allowed": Kind(405, "Method not allowed", "Use one of the methods in the Allow header."),
    "idempotency_in_progress": Kind(
        409, "A request with this key is in progress", "Wait, then send the same request again.", True
    ),
    "name_taken": Kind(409, "Name taken", "Take another name."),
    "group_limit": Kind(409, "No more groups", "Delete groups that you do not need, or use tags."),
    "group_full": Kind(409, "Group is full", "Put the contacts into another group."),
    "state_conflict": Kind(409, "Not possible in this state", "Read the object again and see its state."),
    "webhook_limit": Kind(409, "No more webhooks", "Change or delete one of those that you have."),
    "quote_expired": Kind(409, "Quote expired", "Ask for a new one with POST /api/v1/sms/quote."),
    "quote_changed": Kind(409, "The price has risen", "Ask for a new quote with POST /api/v1/sms/quote."),
    "quote_mismatch": Kind(422, "Quote of another request", "Send the body that was quoted, and its quote_id."),
    "payload_too_large": Kind(413, "Payload too large", "Send a smaller body; /limits tells the largest."),
    "unsupported_media_type": Kind(415, "Unsupported media type", "Send `Content-Type: application/json`."),
    "idempotency_key_reused": Kind(422, "Idempotency key used for another request", "Use a new key for a new request."),
    "recipient_limit": Kind(
        429, "Too many messages to this phone", "Wait as long as Retry-After says; /limits tells how many.", True
    ),
    "rate_limited": Kind(429, "Too many requests", "Wait as long as Retry-After says.", True),
    "internal_error": Kind(500, "Internal error", "Try again; tell the operator the request_id if it stays.", True),
    "bad_gateway": Kind(502, "No answer", UNKNOWN),
    "unavailable": Kind(503, "Service unavailable", "Nothing was accepted. Try again after Retry-After seconds.", True),
    "gateway_timeout": Kind(504, "No answer in time", UNKNOWN),
}


FIELD_CODES: dict[str, str] = {
    "required": "Give the field a value.",
    "wrong_type": "Give the type of value that `detail` names.",
    "invalid": "Give a value as `detail` says.",
    "unknown_field": "Leave the field out, or write it as `detail` suggests.",
    "invalid_phone": "Send digits only, beginning with the country code; `suggestion` has them where that is clear.",
    "spreadsheet_number": "Format the column as text, and enter or export the phones again: digits may be lost.",
    "duplicate": "List each phone once, or set `allow_duplicates`.",
    "suppressed": "Leave out this phone: its owner has opted out.",
    "destination_not_allowed": "Leave out this phone: /limits tells the destinations of your account.",
    "recipient_limit": "Send to this phone later: /limits tells how many messages it may get in an hour.",
    "missing_variable": "Give the value, or a default in the message: `{{name|default}}`.",
    "too_many_variables": "Use fewer different placeholders.",
    "message_empty": "Write a message that shows.",
    "message_too_long": "Shorten the message to 1,600 characters.",
    "invalid_characters": "Remove the character that `detail` names.",
    "invalid_uuid": "Use the id as the API gave it.",
    "invalid_url": "Give an https address that everybody can find, as `detail` says.",
    "invalid_time": "Give a time in RFC 3339 with its offset, such as 2026-03-02T09:00:00Z, as `detail` says.",
    "too_far_ahead": "Schedule at most 90 days ahead.",
    "invalid_sender_id": "Send a name or number as `detail` says.",
    "too_long": "Give less, as `detail` says.",
    "invalid_idempotency_key": "Send the header once, with 1 to 255 visible ASCII characters.",
}
"""Codes in `errors` of a `validation_failed`, and what to do about each."""


class Problem(Exception):
    """Ends a request with an error of the catalogue. Nothing that the request asked for has happened."""

    def __init__(self, code: str, detail: str, *, headers: dict[str, str] | None = None, **members: Any) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.kind = CATALOGUE[code]
        self.headers = headers or {}
        self.members = members

    def document(self, instance: str, request_id: str) -> dict[str, Any]:
        """The body of the answer."""
        return {
            "type": f"/api/v1/errors/{self.code}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "request_id": request_id,
            "retryable": self.kind.retryable,
            "remediation": self.kind.remediation,
            **self.members,
        }


MOST_ERRORS = 100


def invalid(errors: list[dict[str, str]]) -> Problem:
    """A `validation_failed` of these errors, each a pointer (RFC 6901), a code and a detail."""
    first = errors[0]
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    return Problem(
        "validation_failed",
        f"{first['pointer'] or '/'}: {first['detail']}{more}",
        errors=errors[:MOST_ERRORS],
        errors_total=len(errors),
    )
