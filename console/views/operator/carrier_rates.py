"""How many messages per second go to each carrier, from two readings of the API.

The earlier reading is in the query of the part that refreshes itself, so that the console keeps no state.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from werkzeug.datastructures import MultiDict


def reading(carriers: Sequence[Mapping[str, Any]], now: float) -> dict[str, Any]:
    """This reading as query parameters, for the next one to compare with. `now` is in seconds."""
    return {
        "at": f"{now:.3f}",
        "carrier": [each["carrier"] for each in carriers],
        "submitted": [each["submitted"] for each in carriers],
    }


def rates_since(query: MultiDict[str, str], carriers: Sequence[Mapping[str, Any]], now: float) -> dict[str, float]:
    """Messages per second since the reading in the query, by carrier. Empty without a reading, or after a restart."""
    try:
        seconds = now - float(query.get("at", ""))
        before = dict(zip(query.getlist("carrier"), map(float, query.getlist("submitted")), strict=False))
    except ValueError:
        return {}
    if not 0 < seconds < float("inf"):
        return {}
    now_submitted = {each["carrier"]: each["submitted"] for each in carriers if each["carrier"] in before}
    counts = {name: submitted - before[name] for name, submitted in now_submitted.items()}
    return {name: count / seconds for name, count in counts.items() if 0 <= count < float("inf")}
