"""A driver's counters."""

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """Counts since the driver was created. Increments are not locked, which is accurate enough for monitoring."""

    unreadable: int = 0
    """PDUs that could not be read."""
    unmatched_responses: int = 0
    """Responses whose sequence number matches no outstanding PDU, or one already answered."""
