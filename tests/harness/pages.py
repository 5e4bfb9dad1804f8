"""Lists whose pages lead on to each other by cursors."""

from collections.abc import Callable
from typing import Any

from werkzeug.test import TestResponse

MOST = 200


def pages(get: Callable[[str], Any], path: str) -> list[dict[str, Any]]:
    """All pages of a list, as `get` gets them. Fails if it does not end."""
    read: list[dict[str, Any]] = []
    cursor = ""
    while not read or read[-1]["next_cursor"] is not None:
        assert len(read) < MOST, f"{path} does not end"
        response = get(path + cursor)
        read.append(response.json if isinstance(response, TestResponse) else response)
        cursor = f"{'&' if '?' in path else '?'}cursor={read[-1]['next_cursor']}"
    return read


def every(get: Callable[[str], Any], path: str) -> list[dict[str, Any]]:
    """All entries of a list."""
    return [entry for page in pages(get, path) for entry in page["data"]]
