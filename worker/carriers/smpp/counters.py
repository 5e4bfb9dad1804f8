"""A driver's counters and health."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

State = Literal["closed", "connecting", "bound", "suspended"]


@dataclass(slots=True)
class Counters:
    """Counts since the driver was created. Increments are not locked, which is accurate enough for monitoring."""

    connections: int = 0
    given_up: int = 0
    """PDUs without a response in time."""
    unmatched_responses: int = 0
    """Responses whose sequence number matches no outstanding PDU, or one already answered."""
    malformed: int = 0
    """PDUs that could not be read."""
    receipts: int = 0
    unreadable_receipts: int = 0
    inbound: int = 0
    not_stored: int = 0
    """Receipts and inbound messages that the carrier must redeliver."""


@dataclass(frozen=True, slots=True)
class Health:
    """A driver's state. `suspended`: the carrier refuses our credentials; `error` is its status."""

    state: State
    error: str | None
    counters: Counters
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
