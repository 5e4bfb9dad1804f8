"""Combines several rounds of a benchmark: each figure is the median, and the figures of each round are kept beside it.

The speed of a shared machine changes within minutes. So benchmarks that are compared alternate, and a ratio is computed
within one round.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from bench.result import Case, Result


def merged(rounds: Sequence[Result]) -> Result:
    """The rounds of one benchmark as one result. It is void if any round is."""
    void = [reason for each in rounds for reason in each.void]
    combined = replace(rounds[0], rounds=len(rounds), cases=[], void=void)
    names = dict.fromkeys(case.name for each in rounds for case in each.cases)
    by_name = [{case.name: case for case in each.cases} for each in rounds]
    for name in names:
        case = median_case([cases[name] for cases in by_name if name in cases])
        case.rounds = [cases[name].figures if name in cases else {} for cases in by_name]
        combined.cases.append(case)
    return combined


def median_case(measured: list[Case]) -> Case:
    """The medians of several measurements of a case; memory and load are the highest."""
    others = [case.others for case in measured if case.others is not None]
    return Case(
        measured[0].name,
        _each([case.figures for case in measured], median),
        _each([case.cpu_us for case in measured], median),
        _each([case.rss_mib for case in measured], max),
        max(case.load_average for case in measured),
        max(others, default=None),
    )


def _each(values: list[dict[str, float]], of: Callable[[list[float]], float]) -> dict[str, float]:
    """Each name's values, aggregated by `of`."""
    names = dict.fromkeys(name for each in values for name in each)
    return {name: of([each[name] for each in values if name in each]) for name in names}
