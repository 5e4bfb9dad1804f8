"""Every attack at length: `python -m tests.hostile.run [--seconds 60] [--only never,slow,poison]`.

Prints what the victim felt of each, and what the jobs of others felt of poisoned objects. The exit code is 1 where that
is more than was promised, or where the books are wrong.
"""

import argparse
import math
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shared.audit.check import audit
from tests.hostile import poison
from tests.hostile.ground import Felt, Ground, ground, seconds_of, slow
from tests.hostile.scenarios import SCENARIOS

AROUND = 10.0
"""Seconds before and after each attack."""
WARM_UP = 5.0
RECOVERY = 5.0
HANDED_OVER = 1.0
PAGE = 3.0
MEMORY = 2.0
"""Times as much as before."""
SLOWER = 1.1
"""Times as long as in a quiet time, at most, for jobs beside poisoned objects."""
HEAD = ("attack", "p50", "p99", "quiet p99", "slowest page", "refused", "handed over", "memory", "recovery")


def problems(felt: Felt) -> Iterator[str]:
    """What the victim should not have felt."""
    p99, most = seconds_of(felt.during, 0.99), slow(felt.quiet)
    if not p99 < most:
        yield f"p99 of {1000 * p99:.0f} ms, not under {1000 * most:.0f}"
    if not max(pages_of(felt), default=0.0) < PAGE:
        yield f"a page of the console came after {max(pages_of(felt)):.1f} s"
    if felt.refused:
        told = [(asked.what, asked.status, asked.body) for asked in felt.refused[:3]]
        yield f"{len(felt.refused)} requests refused or lost, such as {told}"
    if not max(felt.delays, default=99.0) < HANDED_OVER:
        yield f"a message was handed over after {max(felt.delays, default=99.0):.1f} s"
    if felt.memory[1] > MEMORY * felt.memory[0]:
        yield f"memory of {felt.memory[0] >> 20} MB became {felt.memory[1] >> 20}"
    if felt.recovery > RECOVERY:
        yield f"slow for {felt.recovery:.1f} s after the end"
    if not felt.did["connections"]:
        yield "there was no attack"


def pages_of(felt: Felt) -> list[float]:
    """Seconds that each page of the console took which the victim's person opened."""
    return [asked.seconds for asked in felt.during if asked.what == "page"]


def row(felt: Felt) -> list[str]:
    """A line of the table."""
    return [
        felt.scenario.title,
        f"{1000 * seconds_of(felt.during, 0.5):.0f} ms",
        f"{1000 * seconds_of(felt.during, 0.99):.0f} ms",
        f"{1000 * seconds_of(felt.quiet, 0.99):.0f} ms",
        f"{max(pages_of(felt), default=math.nan):.1f} s",
        f"{len(felt.refused)} of {len(felt.during + felt.after)}",
        f"{max(felt.delays, default=99.0):.2f} s",
        " / ".join(str(each >> 20) for each in felt.memory) + " MB",
        f"{felt.recovery:.1f} s",
    ]


def tell(felt: Felt) -> list[str]:
    """Print the line, what the attacker did, and what is wrong."""
    found = list(problems(felt))
    print("| " + " | ".join(row(felt)) + " |", flush=True)
    print(f"    attacker: {dict(felt.did.most_common())}", file=sys.stderr, flush=True)
    for problem in found:
        print(f"    MISSED: {problem}", file=sys.stderr, flush=True)
    return [f"{felt.scenario.name}: {problem}" for problem in found]


def tell_of_poison(there: Ground) -> list[str]:
    """Print what poisoned objects cost others, and return what is wrong."""
    quiet, beside, failed = poison.measured(there)
    print("\n" + "\n".join(poison.rows(quiet, beside)), flush=True)
    print(f"    failed meanwhile, of {poison.COUNT} each: {failed}", file=sys.stderr, flush=True)
    medians = [
        (statistics.median(before), statistics.median(after)) for before, after in zip(quiet, beside, strict=True)
    ]
    return [f"poison: {before:.2f} s became {after:.2f}" for before, after in medians if after > SLOWER * before]


def main() -> int:
    """Attack, tell, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each attack")
    parser.add_argument("--only", default="", help="names of attacks, with commas")
    parser.add_argument("--strength", type=float, default=1.0, help="of its full number of connections and bytes")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [*(each.name for each in SCENARIOS), "poison"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # who ends it early leaves no servers behind
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o755)
        with ground(Path(folder), options.strength, durable=True) as there:
            print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|", flush=True)
            for scenario in (each for each in SCENARIOS if each.name in names):
                there.restart()
                missed += tell(there.attacked(scenario, options.seconds, AROUND, WARM_UP))
            if "poison" in names:
                missed += tell_of_poison(there)
            breaches = audit(there.house.engine, full=True)
            missed += [f"books: {breach}" for breach in breaches if breach.rule != "queue_moves"]
    print("\n".join(missed) or "Everything as promised.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
