"""What a misspelt field was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_NAME = 40
"""Characters of a name that is compared: no field has as many."""
MOST_COMPARED = 10
"""Names of one request that are compared. Each takes some 0.1 ms, and who misspells more of them did not mean ours."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is like this one; None where there is none."""
    if len(name) > LONGEST_NAME:
        return None
    return next(iter(get_close_matches(name, known, 1, 0.5)), None)
