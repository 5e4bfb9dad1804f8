"""Counts messages by status, carrier, category and country, for `GET /metrics`."""

from collections import Counter

from shared.lifecycle import LANES
from shared.metrics import MESSAGES
from shared.sms.countries import country_of

MessageCounts = Counter[tuple[str, int | None, str]]
"""Messages by status, lane (None: unknown) and the first digits of the phone."""


def count_messages(carrier: str, counts: MessageCounts) -> None:
    """Count messages that have changed their status."""
    for (status, lane, prefix), messages in counts.items():
        category = "" if lane is None else str(LANES[lane])
        MESSAGES.labels(str(status), carrier, category, country_of(prefix) or "").inc(messages)
