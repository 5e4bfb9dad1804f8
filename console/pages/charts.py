"""Usage as the series of a chart."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from flask_babel import format_date, gettext

KINDS = ("delivered", "sent", "failed", "in_doubt", "canceled")
"""Of the messages of a day: arrived; submitted, without a receipt yet; not arrived; unknown; canceled."""


def kind(status: str | None) -> str:
    """Which part of a day's bar a message belongs to."""
    return status if status is not None and status in KINDS else "failed"


def days_until_today(count: int) -> list[str]:
    """The last days in UTC, as the API counts them, the oldest first."""
    today = datetime.now(UTC).date()
    return [(today - timedelta(days=back)).isoformat() for back in reversed(range(count))]


def by_day(rows: Iterable[Mapping[str, Any]], days: Sequence[str]) -> list[dict[str, Any]]:
    """For each day the messages of each kind and the credits spent, from rows of a report by day and status."""
    table = {day: {"day": day, "credits": 0, **dict.fromkeys(KINDS, 0)} for day in days}
    for row in rows:
        entry = table.get(str(row["day"]))
        if entry is not None:
            entry[kind(row["status"])] = int(str(entry[kind(row["status"])])) + row["messages"]
            entry["credits"] = int(str(entry["credits"])) + row["credits"]
    return list(table.values())


def chart_data(rows: Sequence[Mapping[str, Any]]) -> str:
    """JSON for static/charts.js: a label for each day, and a series for each kind."""
    names = {
        "delivered": gettext("Delivered"),
        "sent": gettext("Sent"),
        "failed": gettext("Failed"),
        "in_doubt": gettext("In doubt"),
        "canceled": gettext("Canceled"),
    }
    labels = [format_date(date.fromisoformat(row["day"]), gettext("d MMM")) for row in rows]
    series = [{"kind": kind, "name": names[kind], "values": [row[kind] for row in rows]} for kind in KINDS]
    return json.dumps({"labels": labels, "series": series})
