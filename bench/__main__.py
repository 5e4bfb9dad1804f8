"""`python -m bench NAME [--short] [--rounds N]`; `python -m bench report` writes what was found into
docs/operating/performance.md."""

import importlib
import signal
import sys
import time

import click

from bench.machine import now
from bench.result import NAMES, Result
from bench.rounds import merged

COMPARED = ("limits", "peers", "bulk", "single")
"""Measured in turns: `all` makes several rounds of them."""
ROUNDS = 3
ALL = (*COMPARED, "mixed", "scale")


@click.command()
@click.argument("name", type=click.Choice([*NAMES, "all", "report"]))
@click.option("--short", is_flag=True, help="Smaller where that takes long.")
@click.option(
    "--rounds", type=click.IntRange(1, 99), help=f"How often; {ROUNDS} with `all`, 1 with --short or one name."
)
def main(name: str, short: bool, rounds: int | None) -> None:
    """Measure, or `all`: the floors and what is compared with them. Exit code 1 for a figure that does not count."""
    if name == "report":
        importlib.import_module("bench.report").run()
        return
    # Whoever ends a measurement early must not leave its servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run, sound, names = now(), True, ALL if name == "all" else (name,)
    found: dict[str, list[Result]] = {each: [] for each in names}
    for number in range(1, 1 + (rounds or (ROUNDS if name == "all" and not short else 1))):
        for each in names if number == 1 or name != "all" else COMPARED:
            sound &= measure(Result(each, run, short, number=number), found[each])
    if name == "all":
        importlib.import_module("bench.ratios").show()
    sys.exit(not sound)


def measure(result: Result, before: list[Result]) -> bool:
    """Make one measurement; print and keep what the rounds of it give so far. Returns whether it counts."""
    begun = time.monotonic()
    click.echo(f"{result.name}, round {result.number} ...", err=True)
    importlib.import_module(f"bench.{result.name}").run(result)
    before.append(result)
    told = merged(before)
    told.show()
    click.echo(f"{told.save()} ({time.monotonic() - begun:.0f} s)", err=True)
    return not result.void


if __name__ == "__main__":
    main()
