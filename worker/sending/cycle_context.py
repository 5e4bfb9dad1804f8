"""What the cycles of one worker process share, whichever carrier they are for."""

import threading
from dataclasses import dataclass, field

from shared.guard import Witness
from worker.outages import Outage
from worker.pacing.pace import LiveWorkers
from worker.sending.paced_sends import PacedSends


@dataclass(frozen=True, slots=True)
class CycleContext:
    """Shared by all dispatchers of a worker process."""

    stop: threading.Event = field(default_factory=threading.Event)
    """Set when the process is to stop: its cycles then end after the current window."""
    live_workers: LiveWorkers = field(default_factory=lambda: LiveWorkers(workers=1))
    """How many worker processes share the carriers."""
    witness: Witness = field(default_factory=Witness)
    """Remembers the last claims, for the guard."""
    paced_sends: PacedSends = field(default_factory=PacedSends)
    """Knows when sends with a rate of their own may go on."""
    outage: Outage = field(default_factory=Outage)
    """Knows when the database was unavailable."""
