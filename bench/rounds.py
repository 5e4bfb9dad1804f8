"""Measurements that are made several times: each figure is the median, and what the rounds gave is kept beside it.

The speed of a machine that is shared changes within minutes. What is to be compared is therefore measured in turns, and
a ratio is that of one round.
"""

from collections.abc import Callable, Sequence
from statistics import median

from bench.result import Case, Result


def merged(rounds: Sequence[Result]) -> Result:
    """The rounds of one measurement as one result. Void is what was void in any of them."""
    first = rounds[0]
    made = Result(first.name, first.run, first.short, rounds=len(rounds))
    made.smsc, made.load, made.note = first.smsc, first.load, first.note
    made.measured_at, made.machine = first.measured_at, first.machine
    made.void = [reason for each in rounds for reason in each.void]
    made.cases = [
        median_case([case for each in rounds for case in each.cases if case.name == of.name]) for of in first.cases
    ]
    return made


def median_case(measured: list[Case]) -> Case:
    """Several measurements of the same, as one."""
    others = [case.others for case in measured if case.others is not None]
    return Case(
        measured[0].name,
        _each(measured[0].figures, [case.figures for case in measured], median),
        _each(measured[0].cpu_us, [case.cpu_us for case in measured], median),
        _each(measured[0].rss_mib, [case.rss_mib for case in measured], max),
        max(case.load_average for case in measured),
        max(others, default=None),
        [case.figures for case in measured],
    )


def _each(
    names: dict[str, float], values: list[dict[str, float]], of: Callable[[list[float]], float]
) -> dict[str, float]:
    """Of each name what `of` makes of those that have it."""
    return {name: of([each[name] for each in values if name in each]) for name in names}
