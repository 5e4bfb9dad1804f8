"""Puts product code under the simulation's control: its yields, its time, its ids, its sizes.

Nothing of the product is rewritten. In its modules the names `transaction`, `crashpoint` and `time` and the like lead
to the simulation while it runs.
"""

import random
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime, tzinfo
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, Engine, text

import api.commit.draft
import shared.crashpoints
import shared.db.connection
import shared.ids
import shared.job_failures
import shared.sends.fair_queueing
import worker.jobs.expand
import worker.routing.carrier_pools
import worker.sending.checks
import worker.sending.claim
import worker.sending.dispatch
import worker.sending.windows
import worker.sweeper
import worker.tasks
from tests.simulation.tasks import stand

WRITES = text("SELECT pg_current_xact_id_if_assigned()")
TRANSACTION = shared.db.connection.transaction
ONE_STATEMENT = {
    "durable_statement": shared.db.connection.durable_statement,
    "async_commit_statement": shared.db.connection.async_commit_statement,
}
CRASHPOINT = shared.crashpoints.crashpoint


def yielding(wrote: Callable[[bool], None]) -> Callable[..., AbstractContextManager[Connection]]:
    """`shared.db.connection.transaction`, before which others may run. It reports those that wrote, and how."""

    @contextmanager
    def transaction(engine: Engine, *, durable: bool = True) -> Iterator[Connection]:
        stand("transaction")
        with TRANSACTION(engine, durable=durable) as connection:
            yield connection
            writes = connection.execute(WRITES).scalar() is not None
        if writes:
            wrote(durable)

    return transaction


def yielding_one(name: str, wrote: Callable[[bool], None]) -> Callable[[Engine], AbstractContextManager[Connection]]:
    """The same of `shared.db.connection.durable_statement` or `async_commit_statement`."""

    @contextmanager
    def connected(engine: Engine) -> Iterator[Connection]:
        stand("transaction")
        with ONE_STATEMENT[name](engine) as connection:
            yield connection
        wrote(name == "durable_statement")

    return connected


class Time:
    """The module `time`, by the simulation's clock."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def monotonic(self) -> float:
        """Seconds since 1970."""
        return self._now().timestamp()

    def time_ns(self) -> int:
        """Nanoseconds since 1970."""
        return int(self._now().timestamp() * 1e6) * 1000

    def sleep(self, seconds: float) -> None:
        """Let others run. The clock is the scheduler's."""
        stand("sleep")


@contextmanager
def seams(
    rng: random.Random, now: Callable[[], datetime], wrote: Callable[[bool], None], batch_size: int
) -> Iterator[None]:
    """The simulation's control, for as long as the block lasts."""
    clock, transaction = Time(now), yielding(wrote)

    def now_of(zone: tzinfo | None = None) -> datetime:
        return now()

    with ExitStack() as patches:
        change = _changer(patches)
        for module in product_modules():
            if vars(module).get("transaction") is TRANSACTION and module is not shared.db.connection:
                change(module, "transaction", transaction)
            for name, function in ONE_STATEMENT.items():
                if vars(module).get(name) is function and module is not shared.db.connection:
                    change(module, name, yielding_one(name, wrote))
            if vars(module).get("crashpoint") is CRASHPOINT:
                change(module, "crashpoint", stand)
        for module in (
            shared.sends.fair_queueing,
            shared.ids,
            shared.job_failures,
            worker.jobs.expand,
            worker.sending.checks,
            worker.sweeper,
            worker.sending.dispatch,
            worker.sending.claim,
            worker.routing.carrier_pools,
            worker.tasks,
        ):
            if hasattr(module, "time"):
                change(module, "time", clock)
        for module in (worker.sending.checks, worker.sending.windows):
            change(module, "datetime", SimpleNamespace(now=now_of))
        change(shared.ids, "os", SimpleNamespace(urandom=rng.randbytes))
        change(shared.ids, "_random", deque())  # what was fetched before is not of this seed
        change(api.commit.draft, "BATCH_SIZE", batch_size)
        change(worker.jobs.expand, "BATCH_SIZE", batch_size)
        change(worker.jobs.expand, "PAGE", 2 * batch_size)
        change(worker.jobs.expand, "ENOUGH_OPEN_BATCHES", 2)
        yield


def product_modules() -> list[ModuleType]:
    """What is loaded of api, shared and worker."""
    packages = ("api", "shared", "worker")
    return [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] in packages]


def _changer(patches: ExitStack) -> Callable[[ModuleType, str, Any], None]:
    def change(module: ModuleType, name: str, value: Any) -> None:
        patches.enter_context(patch.object(module, name, value))

    return change
