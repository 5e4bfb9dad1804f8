"""What poisoned objects cost others: jobs of a neighbour without them and beside them, in turns."""

import statistics
from collections.abc import Iterator

from tests.harness.house import House
from tests.hostile.jobs import GROUP, IMPORT, SINGLE, TOLD, Took, neighbour
from tests.hostile.poisons import Poison

COUNT = 50
TURNS, ROUNDS = 6, 10
"""Turns of both, and how often each job is done in a turn. Poison is armed anew for each, so that it fails often."""
SLOWER = 1.1
"""Times as long as without poison, at most, in the median."""
HEAD = (
    "Job of another account",
    "Quiet: median, slowest",
    "Beside poison: median, slowest",
    "Medians of the turns, quiet",
    "Beside poison",
)


class Costs:
    """How long jobs took in each turn, and what failed meanwhile."""

    def __init__(self) -> None:
        self.quiet: list[Took] = []
        self.beside: list[Took] = []
        self.failed: dict[str, int] = {}
        """The most objects of each kind in a turn. Erasures are looked for every ten seconds, so not in each turn."""

    def medians(self, job: str) -> tuple[float, float]:
        """Of all turns together."""
        quiet, beside = (statistics.median(_all(turns, job)) for turns in (self.quiet, self.beside))
        return quiet, beside


def measured(house: House, count: int = COUNT, turns: int = TURNS, rounds: int = ROUNDS) -> Costs:
    """The jobs of another account, without poison and beside it in turns."""
    costs, poison = Costs(), Poison(house, count)
    with neighbour(house) as other:
        other.work(3)
        for _ in range(turns):
            costs.quiet.append(other.work(rounds))
            with poison:
                costs.beside.append(other.work(rounds))
                failed = poison.failed()
            costs.failed = {kind: max(number, costs.failed.get(kind, 0)) for kind, number in failed.items()}
    poison.remove()
    return costs


def rows(costs: Costs) -> Iterator[list[str]]:
    """Lines of the table."""
    for job in (SINGLE, TOLD, GROUP, IMPORT):
        cells = [job]
        for median, turns in zip(costs.medians(job), (costs.quiet, costs.beside), strict=True):
            cells.append(f"{_ms(median)}, {_ms(max(_all(turns, job)))} ms")
        for turns in (costs.quiet, costs.beside):
            cells.append(", ".join(_ms(statistics.median(took[job])) for took in turns))
        yield cells


def problems(costs: Costs) -> Iterator[str]:
    """Jobs that took too long beside poison, and poison that was none."""
    for job in (SINGLE, TOLD, GROUP, IMPORT):
        quiet, beside = costs.medians(job)
        if beside > SLOWER * quiet:
            yield f"{job}: {_ms(quiet)} ms became {_ms(beside)}"
    for kind, number in costs.failed.items():
        if not number:
            yield f"{kind}: nothing failed"


def _all(turns: list[Took], job: str) -> list[float]:
    return [seconds for took in turns for seconds in took[job]]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"
