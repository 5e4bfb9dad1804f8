"""What is wrong with a file, in the reader's language: the API's sentences are English and meant for programs."""

import re
from typing import Any

from flask_babel import lazy_gettext

_ = lazy_gettext

FILE_ERRORS: tuple[tuple[re.Pattern[str], Any], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (
            r"Line (?P<line>[\d,]+) has the byte .*",
            _("Line %(line)s has a character that cannot be read. Save the file as CSV in UTF-8, and choose it again."),
        ),
        (
            r"The first line must name the columns; `(?P<name>\w+)` is missing\.",
            _("The first row must name the columns. Call the one with the phone numbers %(name)s."),
        ),
        (
            r"None of the columns(?: in the first row)? has the phone(?:s| numbers)\. .*",
            _("No column has the phone numbers. Call that column phone in the first row."),
        ),
        (
            r"(None of the columns.* is certainly that of the phone numbers|The file has no single column)\b.*",
            _("Several columns may have the phone numbers, or none is certain. Choose one, and choose the file again."),
        ),
        (
            r"Line (?P<line>[\d,]+) is not CSV: .*",
            _("Line %(line)s is not CSV. Save the spreadsheet as CSV, and choose that file."),
        ),
        (
            r"Line (?P<line>[\d,]+): (?P<value>.*) is no price: .*",
            _("Line %(line)s: %(value)s is no price of a segment, such as 12; decimals have a point."),
        ),
        (r"Line (?P<line>[\d,]+): (?P<value>.*) is no category: .*", _("Line %(line)s: %(value)s is no category.")),
        (
            r"Line (?P<line>[\d,]+): (?P<value>.*) is neither the first digits .*",
            _("Line %(line)s: %(value)s is neither a number prefix nor a country with its own prefixes."),
        ),
        (
            r"Line (?P<line>[\d,]+): Prefix (?P<value>\S+) has the price .*",
            _("Line %(line)s: the prefix %(value)s has another price on another line."),
        ),
        (
            r"Line [\d,]+: Name the columns here: .*",
            _("The first row must name the columns: prefix (or country), price, and perhaps category."),
        ),
        (r"Line [\d,]+: The sheet has no prices\.", _("The sheet has no prices.")),
        (
            r"(The first row is not CSV: |A line of the file is too long: |The file contains a NUL character).*",
            _("This is not a CSV file. Save the spreadsheet as CSV, and choose that file."),
        ),
    )
)

IMPORT_NOTES = {
    "several_phones": _("Several phone numbers in a cell, of which the first is taken"),
    "other_column": _("Phone number from another column"),
    "value_cut": _("Field cut to 255 characters"),
    "tag_cut": _("Tag cut to 50 characters"),
    "no_consent": _("Imported, although a column says that the person has not agreed to marketing"),
    "tags_left": _("Tags left out: more than 20, or not printable"),
}
"""What was done to rows of an import, by the API's code."""


def file_error(detail: str) -> str:
    """What is wrong with a file, from the API's `detail`; another sentence is shown as it is."""
    for pattern, text in FILE_ERRORS:
        match = pattern.fullmatch(detail)
        if match is not None:
            return str(text) % match.groupdict()
    return detail
