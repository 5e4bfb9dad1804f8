"""On the PYTHONPATH of a worker: its simulated carrier fails as no driver should on every phone that begins so."""

import os

from worker.carriers.base import Outcome, Pace, Parcel
from worker.carriers.simulator import Simulator

POISON = os.environ["POISON"]
honest = Simulator.submit


def submit(self: Simulator, parcels: list[Parcel], limit: Pace | None = None) -> list[Outcome]:
    if any(phone.startswith(POISON) for parcel in parcels for phone in parcel.phones):
        raise RuntimeError("the driver has a mistake")
    return honest(self, parcels, limit)


Simulator.submit = submit
