"""Measurements that are made several times: each figure is the median, and what the rounds gave is kept beside it.

The speed of a machine that is shared changes within minutes. What is to be compared is therefore measured in turns, and
a ratio is that of one round.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from bench.result import Case, Result


def merged(rounds: Sequence[Result]) -> Result:
    """The rounds of one measurement as one result. Void is what was void in any of them."""
    void = [reason for each in rounds for reason in each.void]
    made = replace(rounds[0], rounds=len(rounds), cases=[], void=void)
    names = dict.fromkeys(case.name for each in rounds for case in each.cases)
    found = [{case.name: case for case in each.cases} for each in rounds]
    for name in names:
        case = median_case([cases[name] for cases in found if name in cases])
        case.rounds = [cases[name].figures if name in cases else {} for cases in found]
        made.cases.append(case)
    return made


def median_case(measured: list[Case]) -> Case:
    """Several measurements of the same, as one."""
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
    """Of each name what `of` makes of those that have it."""
    names = dict.fromkeys(name for each in values for name in each)
    return {name: of([each[name] for each in values if name in each]) for name in names}
