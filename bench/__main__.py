"""`python -m bench NAME [--short]`; `python -m bench report` writes the last results into docs/performance.md."""

import importlib
import signal
import sys
import time

import click

from bench.machine import now
from bench.result import Result

NAMES = ("limits", "bulk", "single", "mixed", "scale", "group", "growth", "peers")
ALL = ("limits", "peers", "bulk", "single", "mixed", "scale")


@click.command()
@click.argument("name", type=click.Choice([*NAMES, "all", "report"]))
@click.option("--short", is_flag=True, help="Smaller where that takes long.")
def main(name: str, short: bool) -> None:
    """Measure, or `all`: the floors and what is compared with them. Exit code 1 for a figure that does not count."""
    if name == "report":
        importlib.import_module("bench.report").run()
        return
    # Whoever ends a measurement early must not leave its servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run, sound = now(), True
    for each in ALL if name == "all" else (name,):
        sound &= measure(each, run, short)
    if name == "all":
        importlib.import_module("bench.ratios").show()
    sys.exit(not sound)


def measure(name: str, run: str, short: bool) -> bool:
    """Run one measurement, print and keep it. Returns whether it counts."""
    begun = time.monotonic()
    click.echo(f"{name} ...", err=True)
    result = Result(name, run, short)
    importlib.import_module(f"bench.{name}").run(result)
    result.show()
    click.echo(f"{result.save()} ({time.monotonic() - begun:.0f} s)", err=True)
    return not result.void


if __name__ == "__main__":
    main()
