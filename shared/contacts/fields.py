"""Fields of contacts, which messages can name, and tags, by which contacts can be found."""

import re
from typing import Final

FIELD_NAME: Final = "[A-Za-z_][A-Za-z0-9_]{0,31}"
"""Regular expression for a field's name, and so for a placeholder's."""
MAX_FIELDS: Final = 30
LONGEST_VALUE: Final = 255
MAX_TAGS: Final = 20
LONGEST_TAG: Final = 50

_NAME = re.compile(FIELD_NAME)
_REFUSED = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates, which no message may have."""


def name_problem(name: str) -> str | None:
    """Why this is not a field's name, as a sentence, or None."""
    if _NAME.fullmatch(name):
        return None
    return "A field's name is up to 32 letters, digits and underscores, and does not begin with a digit."


def value_problem(value: str, longest: int = LONGEST_VALUE) -> str | None:
    """Why this is not a field's value, as a sentence, or None."""
    if len(value) > longest:
        return f"The value has {len(value):,} characters and may have at most {longest:,}."
    if _REFUSED.search(value):
        return "The value has a control character; remove it."
    return None


def tag_problem(tag: str) -> str | None:
    """Why this is not a tag, as a sentence, or None."""
    if tag and tag.strip() == tag and len(tag) <= LONGEST_TAG and tag.isprintable():
        return None
    return f"A tag is 1 to {LONGEST_TAG} printable characters, without spaces at its ends."
