"""Templates: strings with {placeholders}, alone or within JSON."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def names(template: Any) -> Iterator[str]:
    """The placeholders in a template."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for item in template.values():
            yield from names(item)
    elif isinstance(template, list):
        for item in template:
            yield from names(item)


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill in the placeholders.

    A string that is exactly one placeholder becomes the value itself, so numbers stay numbers and lists stay lists.
    Within a longer string the items of a list are joined by commas.
    """
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        return values[match[1]] if match else filled_text(template, values)
    if isinstance(template, Mapping):
        return {key: filled(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    return template


def filled_text(template: str, values: Mapping[str, Any]) -> str:
    """Fill in the placeholders of a string."""
    return _replaced(template, values, _plain)


def filled_url(template: str, values: Mapping[str, Any]) -> str:
    """Fill in the placeholders of a URL, with values percent-encoded."""
    return _replaced(template, values, lambda value: quote(_plain(value), safe=""))


def _replaced(template: str, values: Mapping[str, Any], formatted: Callable[[Any], str]) -> str:
    return _PLACEHOLDER.sub(lambda match: formatted(values[match[1]]), template)


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
