"""Bulk sends: ten medium ones, a large one, three large ones at once; without and with receipts."""

from bench.measure import bulk, conclude, measured
from bench.result import Case, Result
from bench.rounds import median_case
from bench.stand import Stand

TIMES = 3
"""Repetitions of each case, as each takes only a second or two."""


def run(result: Result) -> None:
    """Measure sends of 100,000 phones; with --short the three at once have 30,000 each."""
    result.note = f"Medians of {TIMES} repetitions of each case per round."
    large = 30_000 if result.short else 100_000
    for receipts in (False, True):
        with Stand(receipts=receipts) as stand:
            ending = "with receipts" if receipts else "without"
            cases = (
                (f"10 x 10,000, {ending}", 10, 10_000, 1),
                (f"1 x 100,000, {ending}", 1, 100_000, 1),
                (f"3 x {large:,} at once, {ending}", 3, large, 3),
            )
            conclude(result, stand, (_several(stand, *case, counted=result.number == 1) for case in cases))


def _several(stand: Stand, name: str, sends: int, phones: int, at_once: int, *, counted: bool) -> Case:
    """One case. With `counted`, the first repetition of a single send also reads the statistics of Postgres."""

    def work() -> dict[str, float]:
        return bulk(stand, sends, phones, at_once)

    return median_case(
        [
            measured(stand, name, work, statistics=counted and sends == 1 and not repetition)
            for repetition in range(TIMES)
        ]
    )
