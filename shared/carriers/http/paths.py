"""What stands where in a document of somebody else's, read without trust: nothing here raises."""

import json
import re
from typing import Any

LONGEST_ID = 255
_UNSAID = re.compile(r"[^0-9A-Za-z_.:-]")


def parse(body: bytes) -> Any:
    """The JSON document; None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def at(document: Any, path: str) -> Any:
    """What stands at a path such as `data.messages.0.id`; the document itself for an empty one, None for nothing."""
    for step in path.split(".") if path else ():
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step[:9]) < len(document):
            document = document[int(step[:9])]
        else:
            return None
    return document


def word(value: Any) -> str:
    """A text, number or truth as the text that declarations name it by; empty for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else ""
    return value.strip()[:LONGEST_ID] if isinstance(value, str) else ""


def identity(value: Any) -> str | None:
    """An id of the carrier's; None where it has none that could be kept."""
    text = value if isinstance(value, str) else word(value)
    return text if 0 < len(text) <= LONGEST_ID and text.isprintable() else None


def code(value: Any) -> str:
    """A carrier's code as it may be shown and logged: short, and no sentence."""
    return _UNSAID.sub("", word(value))[:40]


def entries(document: Any, path: str | None) -> list[Any] | None:
    """The entries of the list at the path; without a path, the document is the only one. None where no list is."""
    if path is None:
        return [document]
    found = at(document, path)
    return found if isinstance(found, list) else None
