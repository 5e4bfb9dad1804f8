"""Validation of a contact's fields, which messages can use as placeholders, and tags, which select contacts."""

import re
from typing import Final

from shared.sms.segments import FORBIDDEN

FIELD_NAME: Final = "[A-Za-z_][A-Za-z0-9_]{0,31}"
"""Regular expression of the name of a field, and so of a placeholder."""
MAX_FIELDS: Final = 30
MAX_VALUE_LENGTH: Final = 255
MAX_TAGS: Final = 20
MAX_TAG_LENGTH: Final = 50

_NAME = re.compile(FIELD_NAME)


def name_problem(name: str) -> str | None:
    """The error message for an invalid field name; None if it is valid."""
    if _NAME.fullmatch(name):
        return None
    return "A field's name is up to 32 letters, digits and underscores, and does not begin with a digit."


def value_problem(value: str, max_length: int = MAX_VALUE_LENGTH) -> str | None:
    """The error message for an invalid field value; None if it is valid."""
    if len(value) > max_length:
        return f"The value has {len(value):,} characters and may have at most {max_length:,}."
    if FORBIDDEN.search(value):
        return "The value has a control character; remove it."
    return None


def tag_problem(tag: str) -> str | None:
    """The error message for an invalid tag; None if it is valid."""
    if tag and tag.strip() == tag and len(tag) <= MAX_TAG_LENGTH and tag.isprintable():
        return None
    return f"A tag is 1 to {MAX_TAG_LENGTH} printable characters, without spaces at its ends."
