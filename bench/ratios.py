"""Figures as shares of the floors that were measured in the same run."""

from rich.console import Console
from rich.table import Table

from bench.limits import BY_KEY, FLASK, PATH, SUBMITS
from bench.result import Result, load

COMPARED = (
    ("bulk", "1 x 100,000, without", "submitted/s", PATH, "submitted/s"),
    ("bulk", "1 x 100,000, without", "submitted/s", SUBMITS, "per second"),
    ("bulk", "1 x 100,000, with receipts", "delivered/s", BY_KEY, "delivered/s"),
    ("single", "64 clients, without", "accepted/s", FLASK, "per second"),
    ("single", "16 clients, without", "accepted/s", FLASK, "per second"),
)
"""Measurement, case and figure; case and figure of the limits."""


def ratios() -> list[list[str]]:
    """Rows: what is compared, its figure, the floor, its figure, and the ratio, as far as one run measured both."""
    limits = load("limits")
    rows = []
    for name, case, figure, floor, floor_figure in COMPARED:
        result = load(name)
        if limits is None or result is None or result.run != limits.run:
            continue
        mine, most = _figure(result, case, figure), _figure(limits, floor, floor_figure)
        if mine and most:
            rows.append([f"{name}: {case}, {figure}", f"{mine:,.0f}", floor, f"{most:,.0f}", f"{mine / most:.0%}"])
    return rows


def show() -> None:
    """Print them."""
    table = Table("what", "figure", "floor", "its figure", "share", title="Shares of the floors", title_justify="left")
    for row in ratios():
        table.add_row(*row)
    Console(highlight=False).print(table)


def _figure(result: Result, case: str, figure: str) -> float | None:
    return next((each.figures.get(figure) for each in result.cases if each.name == case), None)
