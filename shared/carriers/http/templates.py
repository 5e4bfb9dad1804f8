"""Texts with {placeholders}, also within JSON."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

_PLACE = re.compile(r"\{(\w+)\}")


def names(template: Any) -> Iterator[str]:
    """The placeholders in a template."""
    if isinstance(template, str):
        yield from _PLACE.findall(template)
    elif isinstance(template, Mapping):
        for item in template.values():
            yield from names(item)
    elif isinstance(template, list):
        for item in template:
            yield from names(item)


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill in the template. A text that is a single placeholder becomes the value itself, so that numbers stay numbers
    and lists stay lists; within a text, items of a list are joined by commas.
    """
    if isinstance(template, str):
        alone = _PLACE.fullmatch(template)
        return values[alone[1]] if alone else _replaced(template, values, _plain)
    if isinstance(template, Mapping):
        return {key: filled(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    return template


def filled_text(template: str, values: Mapping[str, Any]) -> str:
    """Fill in the template as a text."""
    return _replaced(template, values, _plain)


def filled_url(template: str, values: Mapping[str, Any]) -> str:
    """Fill in the template as a URL, with all values escaped."""
    return _replaced(template, values, lambda value: quote(_plain(value), safe=""))


def _replaced(template: str, values: Mapping[str, Any], written: Callable[[Any], str]) -> str:
    return _PLACE.sub(lambda match: written(values[match[1]]), template)


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
