"""Why the API refused a request, in the reader's language.

Codes that people meet often have a text here; for others the API's own text is shown.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bulksms_client.errors import ApiError
from flask_babel import format_decimal, gettext, lazy_gettext

from console.pages.rejections import placeholder_in
from console.pages.sentences import in_readers_words

_ = lazy_gettext

SESSION_OVER = frozenset({"session_ended", "invalid_token", "token_revoked", "token_expired", "missing_token"})
"""Codes of a 401 after which only signing in again helps."""

NO_RESPONSE: Any = _("The service has not responded. Check whether the change was made before you try again.")

REFUSALS: dict[str, Any] = {
    "validation_failed": _("Some fields need to be corrected."),
    "too_many_recipients": _("Too many recipients for one send. Use a group, or split the list."),
    "no_valid_recipients": _("None of the recipients can be sent to."),
    "no_valid_contacts": _("None of the entries is a valid contact."),
    "group_empty": _("The group has no contacts yet."),
    "too_many_segments": _("The message takes more segments than you allow."),
    "invalid_credentials": _("Wrong e-mail address or password."),
    "code_required": _("Enter the code from your authenticator app as well."),
    "invalid_code": _("This code is wrong or has been used. Wait for the next one."),
    "invalid_link": _("This link has been used or replaced, or has expired. Ask for a new one."),
    "oidc_failed": _("The sign-in took too long or was interrupted. Try again."),
    "oidc_unavailable": _(
        "The identity provider is not responding at the moment. Sign in another way, or try again shortly."
    ),
    "sign_in_too_old": _(
        "A first password can be set within 15 minutes of signing in. Sign out, sign in again, and then set it."
    ),
    "passwords_off": _("Passwords are switched off here."),
    "no_person": _("No account matches this sign-in. Ask an owner of your account to invite you."),
    "email_not_verified": _("The identity provider has not verified your e-mail address."),
    "identity_conflict": _("Someone else has signed in with this e-mail address before. Ask the operator."),
    "invitation_for_another": _("The invitation is for a different e-mail address than the one you signed in with."),
    "unicode_rejected": _("The message has characters outside the SMS alphabet."),
    "spend_limit_reached": _("The account's spend limit is reached."),
    "sender_not_registered": _("The account has no such sender ID."),
    "sender_not_approved": _("This sender ID is not approved yet."),
    "category_not_allowed": _("The account may not send messages of this category."),
    "destination_not_allowed": _("The account may not send to this country."),
    "no_price": _("Your price list has no price for this country."),
    "traffic_refused": _("The traffic looks unusual and was refused. Ask the operator."),
    "recipient_suppressed": _("This phone number has opted out of your messages."),
    "insufficient_scope": _("Your role does not allow this."),
    "account_suspended": _("The account is not active. Ask the operator."),
    "not_found": _("This does not exist, or belongs to another account."),
    "name_taken": _("This name is taken. Choose another one."),
    "group_limit": _("The account cannot have more groups."),
    "group_full": _("The group cannot take more contacts."),
    "export_limit": _("The account has an export that is running, or too many within a week."),
    "message_being_sent": _("The message, or others of its list, is being sent at the moment. Look again in a second."),
    "import_limit": _("The account has too many imports. Wait until one has ended."),
    "sender_limit": _("The account has too many sender IDs, or too many waiting for approval."),
    "suppression_limit": _("The opt-out list is full. Remove entries that you do not need."),
    "webhook_limit": _("The account cannot have more webhooks."),
    "quote_expired": _("The price has expired. Check the message again."),
    "quote_changed": _("The price has risen. Check the message again."),
    "quote_mismatch": _("The price was for another message or other recipients. Check the message again."),
    "payload_too_large": _("This is too large."),
    "unsupported_media_type": _(
        "This is not a CSV file. Save the spreadsheet as CSV, or export the address book (vCard) as CSV, and choose"
        " that file."
    ),
    "recipient_limit": _("This phone number has received too many messages within the last hour."),
    "rate_limited": _("Too many requests. Wait a moment and try again."),
    "unavailable": _("The service is busy. Nothing was done; try again in a moment."),
    "idempotency_key_reused": _(
        "This form was already sent with different values. Check what it did. To send something else, open it again."
    ),
    "idempotency_in_progress": _("This is already in progress. Wait a moment and look again."),
    "shown_again": _("You have signed in again. Nothing was sent or changed yet: check what you typed, then go on."),
    "bad_gateway": NO_RESPONSE,
    "unknown": NO_RESPONSE,
    "gateway_timeout": NO_RESPONSE,
    "internal_error": _("Something went wrong in the service. Try again."),
    "not_an_operator": _("You have no role in the installation."),
}

SENDER_ID: Any = _(
    "Use up to 11 letters and digits, with at least one letter; a short code of 3 to 7 digits; or a phone number with"
    " its country code."
)

OF_FIELDS: dict[str, Any] = {
    "required": _("Enter a value."),
    "wrong_type": _("Enter a whole number, such as 10."),
    "invalid_phone": _("This is not a phone number with its country code, such as 254711000000."),
    "duplicate": _("This phone number is listed twice."),
    **{name: REFUSALS[name] for name in ("destination_not_allowed", "no_price", "recipient_limit")},
    "suppressed": REFUSALS["recipient_suppressed"],
    "message_empty": _("Write a message."),
    "message_too_long": _("The message is longer than 1,600 characters."),
    "invalid_url": _("Use an https address that is reachable from the internet."),
    "invalid_time": _("Enter a time in the future."),
    "too_far_ahead": _("Choose a time within the next 90 days."),
    "too_long": _("This is too long."),
    "weak_password": _("Choose another password of 12 to 200 characters that is harder to guess."),
    "invalid_email": _("Enter an e-mail address without accented letters, such as ann@example.com."),
    "invalid_sender_id": SENDER_ID,
}

OF_FIELD_NAMES: dict[str, Any] = {
    "/sender_id": SENDER_ID,
    "/scopes": _("Choose what the key may do."),
}
"""For fields with one rule, whose errors have no code of their own."""


def describe(error: ApiError) -> str:
    """Why the API has refused a request."""
    if error.code == "no_valid_recipients":
        return _nobody(error.problem.get("rejected") or ())
    if error.code == "low_balance":
        return str(
            gettext(
                "This needs %(required)s credits, and %(balance)s are left.",
                required=format_decimal(error.problem.get("required", 0)),
                balance=format_decimal(error.problem.get("balance", 0)),
            )
        )
    if error.code == "state_conflict":
        return in_readers_words(error.detail)
    if error.code in REFUSALS:
        return str(REFUSALS[error.code])
    if error.code.endswith("_not_found"):
        return str(REFUSALS["not_found"])
    return error.detail or str(REFUSALS["internal_error"])


def describe_field(error: Mapping[str, Any], place: str = "") -> str:
    """What is wrong with a field. `place` is the rest of its pointer: an index in a list, counted from 0."""
    text = _said_of_field(error)
    if error.get("suggestion"):
        text += " " + gettext("Did you mean %(suggestion)s?", suggestion=error["suggestion"])
    index = place.partition("/")[0]
    if index.isdecimal():
        return str(gettext("Entry %(number)s: %(text)s", number=format_decimal(int(index) + 1), text=text))
    return text


def pointed_at(error: Mapping[str, Any]) -> tuple[str, str]:
    """The field that an error is about, and the rest of its pointer: `/variables/name` is `variables` and `name`."""
    first, _, rest = str(error.get("pointer", "")).lstrip("/").partition("/")
    return first, rest


def _nobody(rejected: Iterable[Mapping[str, Any]]) -> str:
    """Why none of the recipients gets a message."""
    reasons = {(each.get("code"), placeholder_in(each.get("detail"))) for each in rejected}
    code, name = reasons.pop() if len(reasons) == 1 else ("", "")
    if code == "missing_variable":
        return str(gettext("None of the recipients has a value for the placeholder %(name)s.", name=name))
    return str(REFUSALS["no_valid_recipients"])


def _said_of_field(error: Mapping[str, Any]) -> str:
    code, pointer = str(error.get("code")), str(error.get("pointer", ""))
    if code == "missing_variable":
        return str(gettext("The placeholder %(name)s has no value.", name=placeholder_in(error.get("detail"))))
    if code in OF_FIELDS:
        return str(OF_FIELDS[code])
    if code == "invalid" and pointer in OF_FIELD_NAMES:
        return str(OF_FIELD_NAMES[pointer])
    return in_readers_words(str(error.get("detail", "")))
