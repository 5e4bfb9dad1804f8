"""The short form of the simulation: some seeds, and some of the mistakes that it must find.

Many seeds and every mistake are run by `make simulate`.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from shared.crashpoints import NAMES
from tests.crashpoints import WHERE_AN_ACCOUNT_LISTENS
from tests.simulation.database import Database
from tests.simulation.mutations import MUTATIONS, Mutation
from tests.simulation.run import DATABASE_CRASHES, caught_by, database
from tests.simulation.world import Plan, World

SHORT = Plan(sends=5, most_phones=20)
SAME_PHONES = Plan(sends=5, most_phones=20, shared_phones=0.8)
CRASHING = Plan(sends=5, most_phones=20, database_crashes=DATABASE_CRASHES)
OVER_SMPP = Plan(sends=3, most_phones=15, database_crashes=1, smpp=20)
MIN_SEEDS = 5
MAX_SEEDS = 60
"""For a mistake to be found."""
FIND_NOW = (
    "watermark not moved before submit",
    "captured twice",
    "claim without a lease",
)
"""Mistakes that `make test ALL=1` tries: one of each kind, found early."""
HAPPEN = (
    *(name for name in NAMES if not name.startswith(("accept.", "smpp.")) and name not in WHERE_AN_ACCOUNT_LISTENS),
    *("crashes", "pauses", "stops", "leases expired", "recovered", "in doubt by recovery"),
)
"""Crash points and what else some seed must come to. No account listens here."""


@pytest.fixture(scope="module")
def simulated() -> Iterator[Database]:
    """A server of the simulation's own, which it may kill."""
    with database() as made:
        yield made


@pytest.mark.slow
def test_no_promise_is_broken(simulated: Database) -> None:
    """Some seeds, and more until everything has happened that may happen."""
    totals: Counter[str] = Counter()
    for seed in range(60):
        if seed >= MIN_SEEDS and all(totals[name] for name in HAPPEN):
            break
        totals.update(World(simulated, seed, SHORT).run())
    assert totals["duplicates"] == 0
    assert [name for name in HAPPEN if not totals[name]] == []


@pytest.mark.slow
def test_no_promise_is_broken_when_the_database_crashes(simulated: Database) -> None:
    totals: Counter[str] = Counter()
    for seed in range(1000, 1003):
        totals.update(World(simulated, seed, CRASHING).run())
    assert totals["duplicates"] == 0
    assert totals["database crashes"] > 5


@pytest.mark.slow
def test_no_promise_is_broken_over_smpp(simulated: Database) -> None:
    totals: Counter[str] = Counter()
    for seed in range(3000, 3005):
        totals.update(World(simulated, seed, OVER_SMPP).run())
    assert totals["duplicates"] == 0
    assert [name for name in NAMES if name.startswith("smpp.") and not totals[name]] == []


@pytest.mark.slow
def test_no_promise_is_broken_when_sends_go_to_the_same_phones(simulated: Database) -> None:
    totals: Counter[str] = Counter()
    for seed in range(2000, 2005):
        totals.update(World(simulated, seed, SAME_PHONES).run())
    assert totals["duplicates"] == 0
    assert totals["in doubt by recovery"] > 0


def test_a_seed_is_one_run(simulated: Database) -> None:
    first, again = (World(simulated, 7, SHORT) for _ in range(2))
    assert first.run() == again.run()
    assert first.trace == again.trace


# A mistake may end a run in the middle of a crash, with a connection that nobody closes.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(each, marks=pytest.mark.slow if each.name in FIND_NOW else pytest.mark.simulation, id=each.name)
        for each in MUTATIONS
    ],
)
def test_a_mistake_is_found(simulated: Database, mutation: Mutation) -> None:
    assert caught_by(simulated, mutation, (mutation.seed, *range(MAX_SEEDS))), "no seed found it"
