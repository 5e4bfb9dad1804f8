"""The results of benchmarks: printed as tables, saved as JSON in bench/results."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.machine import load_average, machine, now

NAMES = ("limits", "bulk", "single", "mixed", "scale", "group", "growth", "console", "peers", "full", "smpp")
"""The benchmarks."""
RESULTS = Path(__file__).with_name("results")


@dataclass(slots=True)
class Case:
    """One case of a benchmark. The names of its figures include the unit."""

    name: str
    figures: dict[str, float] = field(default_factory=dict)
    cpu_us: dict[str, float] = field(default_factory=dict)
    """Processor microseconds per message, by group of processes."""
    rss_mib: dict[str, float] = field(default_factory=dict)
    """Peak memory in MiB, by group of processes."""
    load_average: float = field(default_factory=load_average)
    others: float | None = None
    """Cores that other programs used at the same time; None if not measured."""
    rounds: list[dict[str, float]] = field(default_factory=list)
    """The figures of each round, if there were several."""


@dataclass(slots=True)
class Result:
    """One benchmark. It is valid only if `void` is empty."""

    name: str
    run: str
    """When the command was started. Results of the same run can be compared."""
    short: bool
    rounds: int = 1
    """The number of rounds whose medians the figures are."""
    number: int = 1
    """The number of this round."""
    smsc: str = ""
    load: str = ""
    cases: list[Case] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    note: str = ""
    measured_at: str = field(default_factory=now)
    machine: dict[str, Any] = field(default_factory=machine)

    def add(self, case: Case) -> None:
        """Add a case. Failed requests make the result void."""
        if errors := case.figures.get("errors"):
            self.void.append(f"{case.name}: {errors:g} requests failed")
        self.cases.append(case)

    def save(self) -> Path:
        """Write the result to bench/results. Returns the file's path."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")
        return path

    def show(self) -> None:
        """Print the result."""
        console = Console(width=None if Console().is_terminal else 220, highlight=False)
        for title, rows in tables(self):
            table = Table(title=title, title_justify="left")
            for number, name in enumerate(rows[0]):
                table.add_column(name, justify="right" if number else "left", no_wrap=not number)
            for row in rows[1:]:
                table.add_row(*row)
            console.print(table)
        if self.note:
            console.print(self.note)
        for reason in self.void:
            console.print(f"[red]VOID: {reason}[/red]")


def load(name: str) -> Result | None:
    """The saved result of this name; None if there is none."""
    try:
        saved = json.loads((RESULTS / f"{name}.json").read_text())
    except FileNotFoundError:
        return None
    return Result(**{**saved, "cases": [Case(**case) for case in saved["cases"]]})


def tables(result: Result) -> list[tuple[str, list[list[str]]]]:
    """Titles and rows of the tables: the figures, and the cost of a message if measured."""
    medians = f"medians of {result.rounds} rounds" if result.rounds > 1 else ""
    setup = ", ".join(part for part in (result.smsc, result.load, "short" if result.short else "", medians) if part)
    titled = [(f"{result.name} ({setup})", _rows(result.cases, [case.figures for case in result.cases]))]
    costly = [case for case in result.cases if case.cpu_us]
    if costly:
        titled.append(("processor µs per message", _rows(costly, [_with_sum(case.cpu_us) for case in costly])))
        titled.append(("peak memory, MiB", _rows(costly, [case.rss_mib for case in costly])))
    return [(title, rows) for title, rows in titled if len(rows) > 1]


def _rows(cases: list[Case], values: list[dict[str, float]]) -> list[list[str]]:
    names = list(dict.fromkeys(name for each in values for name in each))
    head = ["case", *names]
    return [
        head,
        *([case.name, *(_format(each.get(name)) for name in names)] for case, each in zip(cases, values, strict=True)),
    ]


def _with_sum(cpu: dict[str, float]) -> dict[str, float]:
    return {**cpu, "service": sum(value for group, value in cpu.items() if group not in ("smsc", "load"))}


def _format(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.3g}"
