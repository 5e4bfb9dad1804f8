"""Reads values at paths in a carrier's JSON document. Input is not trusted: nothing here raises."""

import json
import re
from typing import Any

MAX_ID_LENGTH = 255
_UNSAFE = re.compile(r"[^0-9A-Za-z_.:-]")


def parse(body: bytes) -> Any:
    """Parse JSON; None if it is invalid."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def at(document: Any, path: str) -> Any:
    """The value at a path such as `data.messages.0.id`; None if there is none. An empty path is the document."""
    for step in path.split(".") if path else ():
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step[:9]) < len(document):
            document = document[int(step[:9])]
        else:
            return None
    return document


def word(value: Any) -> str:
    """A string, integer or boolean as the text used for it in declarations; empty for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else ""
    return value.strip()[:MAX_ID_LENGTH] if isinstance(value, str) else ""


def identity(value: Any) -> str | None:
    """A carrier's id; None if it is missing or cannot be stored."""
    text = value if isinstance(value, str) else word(value)
    return text if 0 < len(text) <= MAX_ID_LENGTH and text.isprintable() else None


def code(value: Any) -> str:
    """A carrier's code, made safe to show and log: up to 40 letters, digits and `_.:-`."""
    return _UNSAFE.sub("", word(value))[:40]


def entries(document: Any, path: str | None) -> list[Any] | None:
    """The list at the path, or None. Without a path the document is the only entry."""
    if path is None:
        return [document]
    value = at(document, path)
    return value if isinstance(value, list) else None
