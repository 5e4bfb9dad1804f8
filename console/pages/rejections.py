"""Why a recipient, contact or row of a file was refused, in the reader's words."""

import re
from collections.abc import Mapping
from typing import Any

from flask import flash
from flask_babel import format_decimal, gettext, lazy_gettext

_ = lazy_gettext

NAMED = re.compile(r"`(\w+)`", re.ASCII)
"""A placeholder in a sentence of the API."""
OF_SPREADSHEET = "as a spreadsheet writes it"
INVALID_PHONES: dict[str, Any] = {
    OF_SPREADSHEET: _(
        "A spreadsheet has changed this phone number. Format the column as text, and enter or export it again."
    ),
    "The (0)": _("Not a phone number: remove the (0), which is only dialed within the country"),
    "starts with 0": _("Not a phone number: the country code is missing"),
    "needs at least": _("Not a phone number: it has too few digits"),
    "may have at most": _("Not a phone number: it has too many digits"),
}
"""What is wrong with a phone number, by a part of the API's sentence about it."""
REJECTIONS: dict[str, Any] = {
    "invalid_phone": _("Not a phone number"),
    "duplicate": _("Listed twice"),
    "suppressed": _("Opted out"),
    "too_many_segments": _("The message is too long"),
    "unicode_rejected": _("The message has characters outside the SMS alphabet"),
    "invalid_characters": _("The message has a character that cannot be sent"),
    "destination_not_allowed": _("Country not allowed"),
    "no_price": _("No price for this country"),
    "recipient_limit": _("Too many messages within the hour"),
    "message_empty": _("The message is empty"),
    "message_too_long": _("The message is too long"),
}
IMPORT_NOTES = {
    "several_phones": _("Several phone numbers in a cell, of which the first is taken"),
    "other_column": _("Phone number from another column"),
    "value_cut": _("Field cut to 255 characters"),
    "tag_cut": _("Tag cut to 50 characters"),
    "no_consent": _("Imported, although a column says that the person has not agreed to marketing"),
    "tags_left": _("Tags left out: more than 20, or not printable"),
}
"""What was done to rows of an import, by the API's code."""


def import_rejection(code: str, detail: str | None, value: str | None) -> str:
    """Why a row of a file was not imported: often a phone number as it is dialed within its country."""
    if code == "invalid_phone" and (value or "").strip().startswith("0") and OF_SPREADSHEET not in (detail or ""):
        return str(_("No country code. Choose the country of such numbers when you import the file."))
    return rejection(code, detail)


def placeholder_in(detail: str | None) -> str:
    """The placeholder that a sentence of the API names."""
    found = NAMED.search(detail or "")
    return f"{{{{{found[1]}}}}}" if found else ""


def rejection(code: str, detail: str | None) -> str:
    """Why a recipient gets no message."""
    if code == "missing_variable":
        return str(gettext("No value for %(name)s", name=placeholder_in(detail)))
    if code == "invalid_phone":
        return str(next((said for part, said in INVALID_PHONES.items() if part in (detail or "")), REJECTIONS[code]))
    return str(REJECTIONS.get(code, detail or code))


def say_added(added: Mapping[str, Any], text: str) -> None:
    """Show a notice about phones that were added, and the first of those that were not."""
    invalid = added["counts"]["invalid"]
    if invalid:
        bad = ", ".join(str(each["phone"]) for each in added["rejected"][:3] if each["code"] != "duplicate")
        text += " " + gettext("%(count)s invalid: %(phones)s", count=format_decimal(invalid), phones=bad)
    flash(text, "warn" if invalid else "good")


def rejection_reason(entry: Mapping[str, Any]) -> str:
    """Why an entry of a list was refused, with the phone number that was probably meant."""
    said = rejection(entry["code"], entry.get("detail"))
    if not entry.get("suggestion"):
        return said
    return f"{said}. {gettext('Did you mean %(suggestion)s?', suggestion=entry['suggestion'])}"
