"""What tests of the driver are made with."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from shared.segments import segment
from worker.carriers.base import Parcel
from worker.carriers.smpp import SmppConfig

NOW = datetime(2026, 5, 4, 12, 30, 15, tzinfo=UTC)


def config(**told: Any) -> SmppConfig:
    """An account at nobody's carrier."""
    return SmppConfig(**{"host": "127.0.0.1", "system_id": "me", "password": "secret", **told})


def parcel(text: str, phones: list[str], sender: str = "ACME", **told: Any) -> Parcel:
    """Messages as the service hands them over: counted, with ids and an end."""
    counted = segment(text)
    values: dict[str, Any] = {
        "sender_id": sender,
        "text": text,
        "encoding": counted.encoding,
        "segments": counted.count,
        "expires_at": datetime.now(UTC) + timedelta(hours=72),
        "ids": [uuid4() for _ in phones],
        "phones": phones,
    }
    return Parcel(**{**values, **told})
