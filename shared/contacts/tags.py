"""The tags in a cell, as ours and other programs write them, and those that a contact can have."""

import csv
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from shared.contacts.fields import MAX_TAG_LENGTH, MAX_TAGS, tag_problem
from shared.contacts.formulas import restored

REMEMBERED: Final = 1_000
"""Characters of the longest cell that is remembered."""
_BETWEEN_OURS: Final = re.compile(r"[;|]")
_BETWEEN_GOOGLES: Final = re.compile(r" ::: ")
_OF_GOOGLE: Final = re.compile(r"\* (?=\S)")
"""Before a label that Google Contacts has made: `* myContacts`."""


def tags_of(cell: str) -> list[str]:
    """The tags in a cell: between semicolons as in our exports, otherwise those of Google Contacts or between commas.

    >>> tags_of("vip; new"), tags_of('"VIP","Spring, 2026"'), tags_of("* myContacts ::: Parents"), tags_of("a, b")
    (['vip', 'new'], ['VIP', 'Spring, 2026'], ['myContacts', 'Parents'], ['a', 'b'])
    """
    if _BETWEEN_OURS.search(cell):
        parts = _BETWEEN_OURS.split(cell)
    elif " ::: " in cell or _OF_GOOGLE.match(cell):
        parts = [_OF_GOOGLE.sub("", part, 1) for part in _BETWEEN_GOOGLES.split(cell)]
    elif "," in cell or '"' in cell:
        parts = [part for row in csv.reader(cell.splitlines(), skipinitialspace=True) for part in row]
    else:
        parts = [cell]
    return [tag for tag in map(str.strip, parts) if tag]


def cell_of(tags: Sequence[str]) -> str:
    """The cell from which `tags_of` reads these tags."""
    cell = ";".join(tags)
    return cell if len(tags) != 1 or tags_of(cell) == [*tags] else f"{cell};"


def read_tags(cell: str) -> tuple[list[str], list[str]]:
    """The tags in a cell that a contact can have, and the codes of notes: for tags that are cut, and for the rest."""
    return _known_tags(cell) if len(cell) <= REMEMBERED else _tags(cell)


def _tags(cell: str) -> tuple[list[str], list[str]]:
    given = tags_of(restored(cell))
    cut = [tag[:MAX_TAG_LENGTH].rstrip() for tag in given[:MAX_TAGS]]
    tags = [tag for tag in cut if tag_problem(tag) is None]
    notes = (("tag_cut", cut != given[:MAX_TAGS]), ("tags_left", len(tags) < len(given)))
    return tags, [code for code, applies in notes if applies]


_known_tags = lru_cache(maxsize=1_000)(_tags)
"""Most files have the same few cells of tags in many rows."""
