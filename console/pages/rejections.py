"""Why a recipient, contact or row of a file was refused, in the reader's words."""

import re
from typing import Any

from flask_babel import gettext, lazy_gettext

_ = lazy_gettext

NAMED = re.compile(r"`(\w+)`", re.ASCII)
"""A placeholder in a sentence of the API."""
OF_SPREADSHEET = "as a spreadsheet writes it"
"""Part of the sentence of the API about a phone that became a number, which says how to get it back."""
REJECTIONS: dict[str, Any] = {
    "invalid_phone": _("Not a phone number"),
    "duplicate": _("Listed twice"),
    "suppressed": _("Opted out"),
    "too_many_segments": _("The message is too long"),
    "destination_not_allowed": _("Country not allowed"),
    "recipient_limit": _("Too many messages within the hour"),
    "message_empty": _("The message is empty"),
    "message_too_long": _("The message is too long"),
}


def import_rejection(code: str, detail: str | None, value: str | None) -> str:
    """Why a row of a file was not imported: often a phone number as it is dialed within its country."""
    if code == "invalid_phone" and detail and OF_SPREADSHEET in detail:
        return detail
    if code == "invalid_phone" and (value or "").strip().startswith("0"):
        return str(_("No country code. Choose the country of such numbers when you import the file."))
    return rejection(code, detail)


def placeholder_in(detail: str | None) -> str:
    """The placeholder that a sentence of the API names."""
    found = NAMED.search(detail or "")
    return f"{{{{{found[1]}}}}}" if found else ""


def rejection(code: str, detail: str | None) -> str:
    """Why a recipient is not sent to."""
    if code == "missing_variable":
        return str(gettext("No value for %(name)s", name=placeholder_in(detail)))
    return str(REJECTIONS.get(code, detail or code))
