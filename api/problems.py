"""The catalogue of the API's errors, as RFC 9457 problem details."""

from typing import Any, NamedTuple


class Kind(NamedTuple):
    """The constant members of an error code."""

    status: int
    title: str
    remediation: str
    retryable: bool = False


UNKNOWN = "The request may have taken effect. Repeat it with the same Idempotency-Key; without one, check its outcome."
NEW_TOKEN = "Get a token with POST /api/v1/auth/token; for the operator API, with POST /operator/v1/auth/token."

CATALOGUE: dict[str, Kind] = {
    "bad_request": Kind(400, "Bad request", "Check the request against /openapi.json."),
    "invalid_json": Kind(400, "Invalid JSON", "Send one JSON object, in UTF-8, with each key once."),
    "validation_failed": Kind(400, "Validation failed", "Correct the fields named in `errors`."),
    "too_many_recipients": Kind(400, "Too many recipients", "Split the recipients into several requests."),
    "no_valid_recipients": Kind(400, "No valid recipients", "`rejected` gives the reason for each recipient."),
    "no_valid_contacts": Kind(400, "No valid contacts", "`rejected` gives the reason for each entry."),
    "group_empty": Kind(400, "Group is empty", "Add contacts to the group first."),
    "too_many_segments": Kind(400, "Too many segments", "Shorten the message, or raise `max_segments`."),
    "unicode_rejected": Kind(
        422, "Message needs Unicode", "Use GSM-7 characters only, or set `on_unicode` to `send` or `transliterate`."
    ),
    "invalid_credentials": Kind(401, "Invalid credentials", "Check the API key and secret, or e-mail and password."),
    "code_required": Kind(401, "Code required", "Repeat the request with `code`, from the authenticator app."),
    "invalid_code": Kind(401, "Invalid code", "Use the next code of the authenticator app, or a recovery code."),
    "invalid_link": Kind(401, "Invalid link", "Ask for a new link: each works once, and for a limited time."),
    "oidc_failed": Kind(
        401, "Sign-in through the identity provider failed", "Begin again with POST /api/v1/sign-in/oidc."
    ),
    "session_ended": Kind(401, "Session ended", "Sign in again with POST /api/v1/sign-in."),
    "missing_token": Kind(401, "Missing token", "Send `Authorization: Bearer <ACCESS_TOKEN>`. " + NEW_TOKEN),
    "invalid_token": Kind(401, "Invalid token", NEW_TOKEN),
    "token_expired": Kind(401, "Token expired", NEW_TOKEN),
    "token_revoked": Kind(401, "Token revoked", NEW_TOKEN),
    "low_balance": Kind(402, "Low balance", "Top up, or send to fewer recipients."),
    "spend_limit_reached": Kind(
        402, "Spend limit reached", "Wait until `resets_at`, or ask the operator to raise the limit."
    ),
    "sender_not_registered": Kind(
        403,
        "Sender ID not registered",
        "Request it with POST /api/v1/sender-ids and wait for approval, or use one listed by GET /api/v1/sender-ids.",
    ),
    "sender_not_approved": Kind(
        403, "Sender ID not approved", "Wait for approval, or use an approved one listed by GET /api/v1/sender-ids."
    ),
    "category_not_allowed": Kind(
        403, "Category not allowed", "Use another category, or ask the operator to allow `authentication`."
    ),
    "no_price": Kind(
        403, "No price for this destination", "GET /api/v1/prices lists your prices. Ask the operator for another one."
    ),
    "destination_not_allowed": Kind(
        403,
        "Destination not allowed",
        "Send to the destinations in GET /api/v1/limits, or ask the operator to allow more.",
    ),
    "traffic_refused": Kind(
        403, "Unusual traffic refused", "Check your form for abuse. If the traffic is legitimate, contact the operator."
    ),
    "recipient_suppressed": Kind(403, "Recipient has opted out", "Do not send to this phone number."),
    "insufficient_scope": Kind(403, "Insufficient scope", "Use a key with the scope in `scope`."),
    "ip_not_allowed": Kind(403, "IP address not allowed", "Use the key from one of the networks in its `allowed_ips`."),
    "not_an_operator": Kind(
        403,
        "Not an operator",
        "Ask someone with command-line access to give you a role (`bulksms person operator`).",
    ),
    "passwords_off": Kind(403, "Passwords are off", "Sign in with POST /api/v1/sign-in/oidc, or with a sign-in link."),
    "sign_in_too_old": Kind(403, "Sign-in too old", "Sign in again, then repeat the request."),
    "no_person": Kind(403, "No such person", "Ask an owner of your account, or the operator, to invite you."),
    "email_not_verified": Kind(
        403, "E-mail address not verified", "Have the identity provider verify it, then sign in again."
    ),
    "identity_conflict": Kind(
        403, "Identity conflict", "Ask the operator to unlink the earlier identity: `bulksms person unlink-identity`."
    ),
    "invitation_for_another": Kind(
        403, "Invitation for someone else", "Sign in at the identity provider with the e-mail address that was invited."
    ),
    "sandbox_only": Kind(403, "Only in a sandbox", "Use a test key. The operator tops up live credits."),
    "account_suspended": Kind(403, "Account suspended", "Contact the operator of the service."),
    "not_found": Kind(404, "Not found", "Check the path and the id."),
    "group_not_found": Kind(404, "Group not found", "List your groups with GET /api/v1/groups."),
    "send_not_found": Kind(404, "Send not found", "List your sends with GET /api/v1/sends."),
    "import_not_found": Kind(404, "Import not found", "List your imports with GET /api/v1/imports."),
    "export_not_found": Kind(404, "Export not found", "An export is deleted after a week. Request another one."),
    "message_not_found": Kind(404, "Message not found", "List your messages with GET /api/v1/messages."),
    "api_key_not_found": Kind(404, "API key not found", "List your keys with GET /api/v1/api-keys."),
    "suppression_not_found": Kind(
        404, "Suppression not found", "List the suppressed phone numbers with GET /api/v1/suppressions."
    ),
    "sender_not_found": Kind(404, "Sender ID not found", "List your sender IDs with GET /api/v1/sender-ids."),
    "webhook_not_found": Kind(404, "Webhook not found", "List your webhooks with GET /api/v1/webhooks."),
    "delivery_not_found": Kind(404, "Delivery not found", "List the webhook's deliveries."),
    "statement_not_found": Kind(404, "Statement not found", "List the months with GET /api/v1/statements."),
    "verification_not_found": Kind(
        404, "Verification not found", "List your verifications with GET /api/v1/verifications."
    ),
    "erasure_not_found": Kind(404, "Erasure not found", "List your erasures with GET /api/v1/erasures."),
    "account_not_found": Kind(404, "Account not found", "GET /api/v1/me lists your accounts."),
    "person_not_found": Kind(404, "Person not found", "List the account's people with GET /api/v1/people."),
    "invitation_not_found": Kind(404, "Invitation not found", "List the invitations with GET /api/v1/invitations."),
    "session_not_found": Kind(404, "Session not found", "List your sessions with GET /api/v1/me/sessions."),
    "error_not_found": Kind(404, "Error code not found", "List the codes with GET /api/v1/errors."),
    "method_not_allowed": Kind(405, "Method not allowed", "Use one of the methods in the Allow header."),
    "idempotency_in_progress": Kind(
        409, "Request with this idempotency key in progress", "Wait, then send the same request again.", True
    ),
    "name_taken": Kind(409, "Name taken", "Choose another name."),
    "group_limit": Kind(409, "Group limit reached", "Delete groups that you do not need, or use tags."),
    "group_full": Kind(409, "Group is full", "Put the contacts into another group."),
    "sender_limit": Kind(409, "Sender ID limit reached", "Wait for decisions on earlier ones, or delete one."),
    "suppression_limit": Kind(409, "Suppression limit reached", "Remove opt-outs that you do not need."),
    "import_limit": Kind(409, "Import limit reached", "Wait until an import has ended, or cancel one."),
    "export_limit": Kind(409, "Export limit reached", "Wait until an export is complete, or has been deleted."),
    "erasure_limit": Kind(409, "Erasure limit reached", "Wait until earlier erasures are complete."),
    "state_conflict": Kind(409, "Not possible in this state", "Fetch the object again and check its state."),
    "message_being_sent": Kind(
        409, "Message is being sent", "Try again after Retry-After seconds, then see its status.", True
    ),
    "webhook_limit": Kind(409, "Webhook limit reached", "Change or delete an existing webhook."),
    "quote_expired": Kind(409, "Quote expired", "Get a new quote with POST /api/v1/sms/quote."),
    "quote_changed": Kind(409, "Quoted price has changed", "Get a new quote with POST /api/v1/sms/quote."),
    "quote_mismatch": Kind(422, "Quote is for another request", "Send the body that was quoted, with its `quote_id`."),
    "payload_too_large": Kind(413, "Payload too large", "Send a smaller body; GET /api/v1/limits gives the maximum."),
    "unsupported_media_type": Kind(
        415, "Unsupported media type", "Send one of the media types that the endpoint accepts."
    ),
    "idempotency_key_reused": Kind(422, "Idempotency key used for another request", "Use a new key for a new request."),
    "recipient_limit": Kind(
        429,
        "Too many messages to this phone number",
        "Wait for the time in Retry-After; GET /api/v1/limits gives the limit.",
        True,
    ),
    "verification_limit": Kind(
        429, "Too many codes", "Check the code that was sent, or wait for the time in Retry-After.", True
    ),
    "rate_limited": Kind(429, "Too many requests", "Wait for the time in Retry-After.", True),
    "internal_error": Kind(
        500, "Internal error", "Try again. If it happens again, give the operator the `request_id`.", True
    ),
    "bad_gateway": Kind(502, "No response", UNKNOWN),
    "oidc_unavailable": Kind(
        503, "Identity provider unavailable", "Sign in another way, or try again after Retry-After seconds.", True
    ),
    "unavailable": Kind(503, "Service unavailable", "Nothing was accepted. Try again after Retry-After seconds.", True),
    "gateway_timeout": Kind(504, "No response in time", UNKNOWN),
}


FIELD_CODES: dict[str, str] = {
    "required": "Provide a value for the field.",
    "wrong_type": "Use the type that `detail` names.",
    "invalid": "Correct the value as `detail` says.",
    "unknown_field": "Remove the field, or spell it as `detail` suggests.",
    "invalid_phone": "Start with the country code; in a send, use digits only. `suggestion` has the corrected number.",
    "duplicate": "List each phone number once, or set `allow_duplicates`.",
    "suppressed": "Remove this phone number: its owner has opted out.",
    "no_price": "Remove this phone number: your price list has no price for it.",
    "destination_not_allowed": "Remove this phone number: GET /api/v1/limits lists the destinations of your account.",
    "recipient_limit": "Send to this phone number later: GET /api/v1/limits gives its messages per hour.",
    "missing_variable": "Provide the variable or contact field, or a default in the message: `{{name|default}}`.",
    "too_many_variables": "Use fewer different variables in the message's placeholders.",
    "message_empty": "Write a message with visible characters.",
    "message_too_long": "Shorten the message to 1,600 characters.",
    "invalid_characters": "Remove the character that `detail` names.",
    "invalid_uuid": "Use an id exactly as the API returned it.",
    "invalid_url": "Use an https URL that is reachable from the internet, as `detail` says.",
    "invalid_time": "Use an RFC 3339 time with its offset, such as 2026-03-02T09:00:00Z, as `detail` says.",
    "too_far_ahead": "Schedule at most 90 days ahead.",
    "invalid_email": "Use an e-mail address in ASCII, such as ann@acme.example.",
    "weak_password": "Choose another password, as `detail` says.",
    "invalid_sender_id": "Use a name or number as `detail` says.",
    "too_long": "Shorten the value as `detail` says.",
    "invalid_idempotency_key": "Send the header once, with 1 to 255 visible ASCII characters.",
}
"""The codes in `errors` of a `validation_failed`, and the remediation for each."""


class Problem(Exception):
    """Ends a request with an error of the catalogue. The request has had no effect."""

    def __init__(self, code: str, detail: str, *, headers: dict[str, str] | None = None, **members: Any) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.kind = CATALOGUE[code]
        self.headers = headers or {}
        self.members = members

    def document(self, instance: str, request_id: str) -> dict[str, Any]:
        """The body of the response."""
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


MAX_ERRORS = 100
"""Errors that a response lists."""


def invalid(errors: list[dict[str, str]]) -> Problem:
    """Build a `validation_failed` from errors, each with a pointer (RFC 6901), a code and a detail."""
    first = errors[0]
    more = f" ({len(errors) - 1} more in `errors`)" if len(errors) > 1 else ""
    return Problem(
        "validation_failed",
        f"{first['pointer'] or '/'}: {first['detail']}{more}",
        errors=errors[:MAX_ERRORS],
        errors_total=len(errors),
    )
