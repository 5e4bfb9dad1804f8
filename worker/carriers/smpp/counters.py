"""A driver's counters and health."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

State = Literal["closed", "connecting", "bound", "suspended"]


@dataclass(slots=True)
class Counters:
    """Counts since the driver was created. Increments are not locked, which is accurate enough for monitoring."""

    connections: int = 0
    unmatched_responses: int = 0
    """Responses whose sequence number matches no outstanding PDU, or one already answered."""
    malformed: int = 0
    """PDUs that could not be read."""
    unreadable_receipts: int = 0


class Health(NamedTuple):
    """A driver's state. `suspended`: the carrier refuses our credentials; `error` is its status."""

    state: State
    error: str | None
    counters: Counters
