"""The short form of the simulation: some seeds, and every mistake that it must find.

Many seeds are run by `make simulate`.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from shared.crashpoints import NAMES
from tests.simulation.database import Database
from tests.simulation.mutations import MUTATIONS, Mutation
from tests.simulation.run import DATABASE_CRASHES, caught_by, database
from tests.simulation.world import Plan, World

SHORT = Plan(sends=5, most_phones=20)
CRASHING = Plan(sends=5, most_phones=20, database_crashes=DATABASE_CRASHES)
MOST_SEEDS = 60
"""For a mistake to be found."""


@pytest.fixture(scope="module")
def simulated() -> Iterator[Database]:
    """A server of the simulation's own, which it may kill."""
    with database() as made:
        yield made


def run(database: Database, seeds: range, plan: Plan) -> Counter[str]:
    """The totals of the seeds."""
    totals: Counter[str] = Counter()
    for seed in seeds:
        totals.update(World(database, seed, plan).run())
    return totals


def test_no_promise_is_broken(simulated: Database) -> None:
    totals = run(simulated, range(40), SHORT)
    assert totals["duplicates"] == 0
    for name in NAMES:
        if not name.startswith("accept."):
            assert totals[name], f"no seed came to the crash point {name}"
    for happening in ("crashes", "pauses", "stops", "leases expired", "recovered", "in doubt by recovery"):
        assert totals[happening], f"no seed had {happening}"


def test_no_promise_is_broken_when_the_database_crashes(simulated: Database) -> None:
    totals = run(simulated, range(1000, 1010), CRASHING)
    assert totals["duplicates"] == 0
    assert totals["database crashes"] > 10


def test_a_seed_is_one_run(simulated: Database) -> None:
    first, again = (World(simulated, 7, SHORT) for _ in range(2))
    assert first.run() == again.run()
    assert first.trace == again.trace


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mistake_is_found(simulated: Database, mutation: Mutation) -> None:
    assert caught_by(simulated, mutation, 0, MOST_SEEDS), f"{MOST_SEEDS} seeds did not find it"
