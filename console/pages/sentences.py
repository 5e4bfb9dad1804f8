"""Sentences of the API about conflicts and files, in the reader's language.

The API says these in English, with one code for all: a sentence that is known here is shown in the reader's language,
any other as it is.
"""

import re
from typing import Any

from flask_babel import format_decimal, lazy_gettext

from console.pages.formats import status_label

_ = lazy_gettext

SENTENCES: dict[str, Any] = {
    r"The send is (?P<state>\w+) and cannot change its time or text: sending has begun\.": _(
        "The send has begun, so its time and text can no longer change. Its state: %(state)s."
    ),
    r"The send is (?P<state>\w+) and cannot change its text, because the text differs by recipient\.": _(
        "The text differs by recipient, so it can no longer change. State of the send: %(state)s."
    ),
    r"The send is (?P<state>\w+) and cannot be changed\.": _("The send can no longer change. Its state: %(state)s."),
    r"The account is frozen, which stops more than a suspension does\..*": _(
        "The account is frozen, which stops more than a suspension does. Activate it first."
    ),
    r"The send is (?P<state>\w+) and cannot be paused\.": _("The send cannot be paused. Its state: %(state)s."),
    r"The send is (?P<state>\w+) and cannot be resumed\.": _("The send cannot be resumed. Its state: %(state)s."),
    r"The send is (?P<state>\w+) and cannot be canceled\.": _("The send cannot be canceled. Its state: %(state)s."),
    r"The message is (?P<state>\w+) and cannot be canceled\.": _(
        "The message cannot be canceled. Its state: %(state)s."
    ),
    r"The import is (?P<state>\w+) and cannot be canceled\.": _(
        "The import can no longer be stopped. Its state: %(state)s."
    ),
    r"The sender ID '(?P<name>.*)' is (?P<state>\w+) and cannot be deleted\.": _(
        "The sender ID %(name)s cannot be removed. Its state: %(state)s."
    ),
    r"The webhook is disabled\. Enable it first\.": _("The webhook is switched off. Switch it on first."),
    r"The event is too old and no longer stored\.": _(
        "The event is too old to be posted again: it is no longer stored."
    ),
    r"This webhook (has no `url` to test|posts to each send's `callback_url` and has no `url`).*": _(
        "This webhook posts to the address that each send names, and has none of its own."
    ),
    r"Your account already has a webhook that posts to each send's `callback_url`\.": _(
        "The account already has a webhook that posts to the address that each send names."
    ),
    r"Posts are already signed with (?P<count>\d+) secrets\. .*": _(
        "Events are already signed with %(count)s secrets. Wait until the oldest one has expired."
    ),
    r"The secret before the last one still works until .*": _(
        "The secret before the last one still works, and a new one would end it. Create another key."
    ),
    r"An account has at most (?P<count>\d+) API keys\. Revoke one first\.": _(
        "An account has at most %(count)s API keys. Revoke one first."
    ),
    r"An account has at most (?P<count>\d+) open invitations\. Revoke one first\.": _(
        "An account has at most %(count)s open invitations. Withdraw one first."
    ),
    r"(?P<name>\S+) is already in this account\.": _("%(name)s is already in this account."),
    r"The account is closed(, which cannot be undone)?\.": _("The account is closed for good."),
    r"This is the account's last owner\..*": _("An account keeps at least one owner."),
    r"TOTP is already on; disable it first\.": _("The second factor is already on. Switch it off first."),
    r"Set a password first.*": _("Set a password first."),
    r"Only (?P<count>[\d,]+) credits are available; .*": _(
        "Only %(count)s credits can be reversed: the others are reserved or spent. Cancel sends first."
    ),
    r"Only (?P<count>[\d,]+) credits can be taken; .*": _(
        "Only %(count)s credits can be taken. Raise the credit limit first."
    ),
    r"1 to (?P<count>[\d,]+) credits of this top-up can be reversed; .*": _(
        "Enter no more than the %(count)s credits of this top-up."
    ),
    r"(?P<count>[\d,]+) credits of this top-up were reversed before; .*": _(
        "%(count)s credits of this top-up were already reversed. A top-up can be reversed once."
    ),
    r"Nothing charged for this send is left to refund\.": _(
        "There is nothing left to refund of what was charged for this send."
    ),
    r"The message is not charged\.": _("The message was not charged."),
    r"The message was refunded before, by itself or with its send\.": _(
        "The message was refunded before, by itself or with its send."
    ),
    r"(?P<quote>['\"])(?P<name>.*)(?P=quote) is approved for the account .*": _(
        "%(name)s is approved for another account, and only one account can have it."
    ),
    r"Nothing is held: this database has not lost anything.*": _(
        "Nothing is held: as far as is known, this database has not lost anything."
    ),
    r"None of these messages is in doubt\.": _("None of these messages is in doubt."),
    r"This version .*, which takes (?P<count>\d+) days of notice: .*": _(
        "This version raises or removes prices. It can be valid in %(count)s days at the earliest."
    ),
    r"This version takes a minute: .*": _("A version can be valid in a minute at the earliest."),
    r"Version \d+ was published already\.": _("This version was published already."),
    r"Version \d+ is valid already, .*": _("This version is valid already, or within a minute. Publish another one."),
    r"That list has no version that is valid .*": _("This list has no valid prices yet. Publish a version first."),
    r"No worker has a carrier (?P<quote>['\"])(?P<name>.*)(?P=quote), only (?P<known>.*)\. Add it .*": _(
        "There is no carrier %(name)s, only %(known)s."
    ),
    r"There is a price list .* already, .*": _("There is a price list with this name or for this carrier already."),
    r"Get a secret with POST /api/v1/me/totp first\.": _("Start again: this secret is no longer valid."),
    # What is wrong with a file.
    r"Line (?P<line>[\d,]+) has the byte .*": _(
        "Line %(line)s has a character that cannot be read. Save the file as CSV in UTF-8, and choose it again."
    ),
    r"The first line must name the columns; `(?P<name>\w+)` is missing\.": _(
        "The first row must name the columns. Call the one with the phone numbers %(name)s."
    ),
    r"None of the columns(?: in the first row)? has the phone(?:s| numbers)\. .*": _(
        "No column has the phone numbers. Call that column phone in the first row."
    ),
    r"(None of the columns.* is certainly that of the phone numbers|The file has no single column)\b.*": _(
        "Several columns may have the phone numbers, or none is certain. Choose one, and choose the file again."
    ),
    r"Line (?P<line>[\d,]+) is not CSV: .*": _(
        "Line %(line)s is not CSV. Save the spreadsheet as CSV, and choose that file."
    ),
    r"Line (?P<line>[\d,]+): (?P<value>.*) is no price: .*": _(
        "Line %(line)s: %(value)s is no price of a segment, such as 12; decimals have a point."
    ),
    r"Line (?P<line>[\d,]+): (?P<value>.*) is no category: .*": _("Line %(line)s: %(value)s is no category."),
    r"Line (?P<line>[\d,]+): (?P<value>.*) is neither the first digits .*": _(
        "Line %(line)s: %(value)s is neither a number prefix nor a country with its own prefixes."
    ),
    r"Line (?P<line>[\d,]+): Prefix (?P<value>\S+) has the price .*": _(
        "Line %(line)s: the prefix %(value)s has another price on another line."
    ),
    r"Line [\d,]+: Name the columns here: .*": _(
        "The first row must name the columns: prefix (or country), price, and perhaps category."
    ),
    r"Line [\d,]+: The sheet has no prices\.": _("The sheet has no prices."),
    r"(The first row is not CSV: |A line of the file is too long: |The file contains a NUL character).*": _(
        "This is not a CSV file. Save the spreadsheet as CSV, and choose that file."
    ),
}
"""The text for each sentence, by a pattern of the whole sentence."""


def in_readers_words(detail: str) -> str:
    """The API's `detail` in the reader's language; a sentence that is not known is shown as it is."""
    for pattern, text in SENTENCES.items():
        match = re.fullmatch(pattern, detail)
        if match is not None:
            return str(text) % {name: _shown_value(name, value) for name, value in match.groupdict().items()}
    return detail


def _shown_value(name: str, value: str) -> str:
    if name == "state":
        return status_label(value)
    return str(format_decimal(int(value.replace(",", "")))) if name == "count" else value
