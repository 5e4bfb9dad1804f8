"""Reads values from untrusted documents. Nothing here raises."""

import json
import re
from typing import Any

LONGEST_ID = 255
_UNSAID = re.compile(r"[^0-9A-Za-z_.:-]")


def parse(body: bytes) -> Any:
    """The JSON document, or None if it is invalid."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def at(document: Any, path: str) -> Any:
    """The value at a path such as `data.messages.0.id`, or None; with an empty path, the document itself."""
    for step in path.split(".") if path else ():
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step[:9]) < len(document):
            document = document[int(step[:9])]
        else:
            return None
    return document


def word(value: Any) -> str:
    """A text, number or boolean as the text that declarations use; empty for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else ""
    return value.strip()[:LONGEST_ID] if isinstance(value, str) else ""


def identity(value: Any) -> str | None:
    """A carrier's id, or None if it is missing or cannot be stored."""
    text = value if isinstance(value, str) else word(value)
    return text if 0 < len(text) <= LONGEST_ID and text.isprintable() else None


def code(value: Any) -> str:
    """A carrier's code, shortened so that it can be shown and logged."""
    return _UNSAID.sub("", word(value))[:40]


def entries(document: Any, path: str | None) -> list[Any] | None:
    """The entries of the list at the path, or None; without a path, the document is the only entry."""
    if path is None:
        return [document]
    found = at(document, path)
    return found if isinstance(found, list) else None
