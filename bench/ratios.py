"""Compares figures with the limits and peers that were measured in the same run."""

from statistics import median

from rich.console import Console
from rich.table import Table

from bench.limits import BY_KEY, FLASK, PATH, SUBMITS
from bench.peers import SHAPES
from bench.result import Result, load

WITHOUT, SPOOL, WITH, SPOOL_WITH = SHAPES[1].name, SHAPES[2].name, SHAPES[5].name, SHAPES[6].name
COMPARED = (
    ("bulk", "1 x 100,000, without", "submitted/s", "limits", PATH, "submitted/s"),
    ("bulk", "1 x 100,000, without", "submitted/s", "limits", SUBMITS, "per second"),
    ("bulk", "1 x 100,000, with receipts", "delivered/s", "limits", BY_KEY, "delivered/s"),
    ("single", "64 clients, without", "accepted/s", "limits", FLASK, "per second"),
    ("single", "16 clients, without", "accepted/s", "limits", FLASK, "per second"),
    ("bulk", "1 x 100,000, without", "submitted/s", "peers", WITHOUT, "submitted/s"),
    ("bulk", "1 x 100,000, with receipts", "delivered/s", "peers", WITH, "delivered/s"),
    ("single", "64 clients, without", "submitted/s", "peers", SPOOL, "submitted/s"),
    ("single", "64 clients, with receipts", "submitted/s", "peers", SPOOL_WITH, "submitted/s"),
    ("single", "64 clients, with receipts", "delivered/s", "peers", SPOOL_WITH, "delivered/s"),
)
"""Benchmark, case and figure, each with the benchmark, case and figure that it is compared with."""


def ratios() -> list[list[str]]:
    """Rows of case, figure, compared case, its figure and the ratio, for cases measured in the same run.

    With several rounds, the ratio is the median of the rounds' ratios, followed by the lowest and the highest.
    """
    rows = []
    for name, case, figure, other, other_case, other_figure in COMPARED:
        result, compared = load(name), load(other)
        if result is None or compared is None or result.run != compared.run:
            continue
        pairs = _pairs(_figures(result, case, figure), _figures(compared, other_case, other_figure))
        if not pairs:
            continue
        quotients = [own / compared_figure for own, compared_figure in pairs]
        form = "{:.0%}" if other == "limits" else "{:.2f} x"
        ratio = form.format(median(quotients))
        if len(quotients) > 1:
            ratio += f" ({form.format(min(quotients))} to {form.format(max(quotients))})"
        own, compared_with = (median(each) for each in zip(*pairs, strict=True))
        rows.append([f"{name}: {case}, {figure}", f"{own:,.0f}", other_case, f"{compared_with:,.0f}", ratio])
    return rows


def show() -> None:
    """Print the ratios."""
    columns = ("what", "figure", "beside", "its figure", "ratio")
    table = Table(*columns, title="Beside floors and peers", title_justify="left")
    for row in ratios():
        table.add_row(*row)
    Console(highlight=False).print(table)


def _figures(result: Result, case: str, figure: str) -> list[float]:
    """The figure in each round; 0 if a round lacks it."""
    match = next((each for each in result.cases if each.name == case), None)
    rounds = (match.rounds or [match.figures]) if match else []
    return [each.get(figure, 0.0) for each in rounds]


def _pairs(own: list[float], compared_with: list[float]) -> list[tuple[float, float]]:
    """Pairs of figures of the same round, or of medians if the numbers of rounds differ."""
    if len(own) != len(compared_with):
        own, compared_with = ([median([value for value in each if value] or [0.0])] for each in (own, compared_with))
    return [pair for pair in zip(own, compared_with, strict=True) if all(pair)]
