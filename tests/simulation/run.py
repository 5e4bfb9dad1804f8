"""Runs seeds: `python -m tests.simulation.run --seeds 2000 --first 0 [--database-crashes] [--mutations]`."""

import argparse
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.simulation.carrier import Breach
from tests.simulation.database import Database
from tests.simulation.mutations import MUTATIONS, Mutation
from tests.simulation.world import Plan, World

COMMAND = "python -m tests.simulation.run --seeds 1 --first"
DATABASE_CRASHES = 3
SHOWN = (
    "messages",
    "receipts.committed",
    "crashes",
    "pauses",
    "stops",
    "leases expired",
    "database crashes",
    "claims without response",
    "recovered",
    "in doubt by recovery",
    "in doubt at the end",
    "duplicates",
)


@contextmanager
def database() -> Iterator[Database]:
    """A server of the simulation's own."""
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        Path(folder).chmod(0o755)
        made = Database(Path(folder))
        try:
            yield made
        finally:
            made.close()


def caught_by(database: Database, mutation: Mutation, seeds: Iterable[int]) -> tuple[int, str] | None:
    """The first seed that found the mistake, and the oracle that saw it; None when none did."""
    crashes = DATABASE_CRASHES if mutation.database_crashes else 0
    plan = Plan(database_crashes=crashes, shared_phones=mutation.shared_phones, smpp=mutation.smpp)
    for seed in seeds:
        try:
            with mutation.made():
                World(database, seed, plan).run()
        except Breach as breach:
            World(database, seed, plan).run()  # and without the mistake there is nothing to see
            return seed, str(breach)
    return None


def run_mutations(database: Database, first: int, most: int) -> int:
    """Make each mistake. Returns how many were not found."""
    missed = 0
    for mutation in MUTATIONS:
        caught = caught_by(database, mutation, range(first, first + most))
        missed += caught is None
        result = f"seed {caught[0]:<5} {caught[1][:120]}" if caught else f"NOT FOUND by {most} seeds"
        print(f"{mutation.name:50} {result}", flush=True)
    return missed


def run_seeds(database: Database, options: argparse.Namespace) -> list[int]:
    """Run the seeds. Returns those that failed."""
    plan = Plan(
        database_crashes=DATABASE_CRASHES if options.database_crashes else 0,
        shared_phones=options.shared_phones,
        smpp=options.smpp,
    )
    totals: Counter[str] = Counter()
    failed: list[int] = []
    begun = time.monotonic()
    for number, seed in enumerate(range(options.first, options.first + options.seeds), 1):
        world = World(database, seed, plan)
        try:
            totals += world.run()
        except Breach as breach:
            failed.append(seed)
            flag = " --database-crashes" if options.database_crashes else ""
            flag += f" --shared-phones {options.shared_phones:g}" if options.shared_phones else ""
            flag += f" --smpp {options.smpp}" if options.smpp else ""
            print(f"\nseed {seed}: {breach}\nAgain: {COMMAND} {seed}{flag}", flush=True)
            print("\n".join(world.trace[-options.trace :] if options.trace else ()))
        print(f"\r{number} of {options.seeds} seeds, {time.monotonic() - begun:.0f} s", end="", flush=True)
        if failed and not options.keep_going:
            break
    shown = ", ".join(f"{totals[name]:,} {name}" for name in SHOWN)
    print(f"\n{shown}, {len(failed)} breaches {failed or ''}")
    return failed


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.run")
    parser.add_argument("--seeds", type=int, default=100, help="how many; with --mutations at most for each")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--database-crashes", action="store_true")
    parser.add_argument("--shared-phones", type=float, default=0.0, help="share of sends to the phones of another send")
    parser.add_argument("--smpp", type=int, default=0, help="submits over SMPP, beside the sends")
    parser.add_argument("--mutations", action="store_true", help="make mistakes, and see whether they are found")
    parser.add_argument("--keep-going", action="store_true", help="go on after a seed that failed")
    parser.add_argument("--trace", type=int, default=0, metavar="LINES", help="show the end of a failed run")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with database() as made:
        if options.mutations:
            return 1 if run_mutations(made, options.first, options.seeds) else 0
        return 1 if run_seeds(made, options) else 0


if __name__ == "__main__":
    sys.exit(main())
