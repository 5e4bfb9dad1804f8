"""On the PYTHONPATH of a worker: its simulated carrier fails as no driver should on every phone that begins so."""

import os

from worker.carriers.base import MessageGroup, Outcome, Pace
from worker.carriers.simulator import Simulator

POISON = os.environ["POISON"]
honest = Simulator.submit


def submit(self: Simulator, message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
    if any(phone.startswith(POISON) for message_group in message_groups for phone in message_group.phones):
        raise RuntimeError("the driver has a mistake")
    return honest(self, message_groups, limit)


Simulator.submit = submit
