"""Runs benchmarks: `python -m bench NAME [--short] [--rounds N]`. `python -m bench report` writes the results to
docs/notes/benchmarks.md."""

import importlib
import signal
import sys
import time

import click

from bench.machine import now
from bench.result import NAMES, Result
from bench.rounds import merged

COMPARED = ("limits", "peers", "bulk", "single")
"""Benchmarks that are compared with each other. `all` alternates between them for several rounds."""
ROUNDS = 3
ALL = (*COMPARED, "mixed", "scale")


@click.command()
@click.argument("name", type=click.Choice([*NAMES, "all", "report"]))
@click.option("--short", is_flag=True, help="Use smaller loads in long benchmarks.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 99),
    help=f"Number of rounds [default: {ROUNDS} for all, else 1].",
)
def main(name: str, short: bool, rounds: int | None) -> None:
    """Run benchmark NAME, or `all` but console, full, growth and group. `report` writes the results into the
    documentation.

    Exits with code 1 if a result is void.
    """
    if name == "report":
        importlib.import_module("bench.report").run()
        return
    # Ending a benchmark early must not leave its servers running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run, valid, names = now(), True, ALL if name == "all" else (name,)
    results: dict[str, list[Result]] = {each: [] for each in names}
    for number in range(1, 1 + (rounds or (ROUNDS if name == "all" and not short else 1))):
        for each in names if number == 1 or name != "all" else COMPARED:
            valid &= measure(Result(each, run, short, number=number), results[each])
    if name == "all":
        importlib.import_module("bench.ratios").show()
    sys.exit(not valid)


def measure(result: Result, rounds: list[Result]) -> bool:
    """Run one round, and print and save the result of the `rounds` so far. Returns whether the round is valid."""
    begun = time.monotonic()
    click.echo(f"{result.name}, round {result.number} ...", err=True)
    importlib.import_module(f"bench.{result.name}").run(result)
    rounds.append(result)
    combined = merged(rounds)
    combined.show()
    click.echo(f"{combined.save()} ({time.monotonic() - begun:.0f} s)", err=True)
    return not result.void


if __name__ == "__main__":
    main()
