"""Bulk sends: many middling ones, a large one, three large ones at once; without and with receipts."""

from bench.measure import bulk, conclude, measured
from bench.result import Result
from bench.stand import Stand


def run(result: Result) -> None:
    """A large send has 100,000 phones; with --short the three at once have 30,000 each."""
    large = 30_000 if result.short else 100_000
    for receipts in (False, True):
        with Stand(receipts=receipts) as stand:
            ending = "with receipts" if receipts else "without"
            cases = (
                (f"10 x 10,000, {ending}", 10, 10_000, 1),
                (f"1 x 100,000, {ending}", 1, 100_000, 1),
                (f"3 x {large:,} at once, {ending}", 3, large, 3),
            )
            told = (
                measured(
                    stand,
                    name,
                    lambda: bulk(stand, sends, phones, at_once),  # noqa: B023 - called before the next case
                    statistics=sends == 1,
                )
                for name, sends, phones, at_once in cases
            )
            conclude(result, stand, told)
