"""The former names of settings in CARRIERS_FILE, which are still read."""

from collections.abc import Mapping
from typing import Any

FORMER_NAMES: dict[str, dict[str, str]] = {
    "": {
        "driver": "kind",
        "answer_time": "response_timeout",
        "connect_time": "connect_timeout",
        "our_url": "public_url",
        "ready": "preset",
        "answer": "response",
    },
    "request": {"shortest_validity": "min_validity", "longest_validity": "max_validity"},
    "response": {"taken": "success_statuses"},
    "callback": {"proof": "auth"},
    "poll": {"every": "interval"},
}
"""The name of each setting by its former one, in a carrier's own table (`""`) and in the tables inside it."""


class TwoNamesError(ValueError):
    """A setting is given by its former name and by its name."""


def with_current_names(settings: Mapping[str, Any], table: str = "") -> dict[str, Any]:
    """A carrier's settings, each by its name. `table` is the table inside the carrier's. Raises TwoNamesError."""
    current: dict[str, Any] = {}
    for key, value in settings.items():
        name = FORMER_NAMES[table].get(key, key)
        if name != key and name in settings:
            where = f"{table}." if table else ""
            raise TwoNamesError(f"{where}{key} is the former name of {where}{name}: remove one of them")
        is_table = not table and name in FORMER_NAMES and isinstance(value, Mapping)
        current[name] = with_current_names(value, name) if is_table else value
    return current
