"""What a driver has seen, in numbers: for its health, and for those who ask why."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

State = Literal["closed", "connecting", "bound", "suspended"]


@dataclass(slots=True)
class Counters:
    """Since the driver was made. Each is written by one thread, or near enough for a number that is looked at."""

    connections: int = 0
    bound: int = 0
    submitted: int = 0
    """submit_sm's that may have left."""
    given_up: int = 0
    """Without an answer in time."""
    late: int = 0
    unknown_answers: int = 0
    """With a sequence number that waits for none, or was answered before."""
    malformed: int = 0
    """PDUs that could not be read."""
    nacked: int = 0
    """Requests of the carrier that we do not know, and generic_nacks of its own."""
    receipts: int = 0
    unreadable_receipts: int = 0
    inbound: int = 0
    not_stored: int = 0
    """Receipts and inbound messages that the carrier must give again."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a driver can do now. `suspended`: the carrier refuses our credentials, `error` says how."""

    state: State
    error: str | None
    counters: Counters
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
