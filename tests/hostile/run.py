"""Every attack at length: `python -m tests.hostile.run [--seconds 60] [--only never,slow]`.

Prints what the victim felt of each, as lines of a table in Markdown. The exit code is 1 where that is more than was
promised, where an attack was none, or where the books are wrong.
"""

import argparse
import math
import signal
import sys
import tempfile
from pathlib import Path

from shared.audit.check import audit
from tests.hostile.felt import Felt, problems, seconds_of
from tests.hostile.ground import ground
from tests.hostile.quiet import BUSY, wait_for_quiet
from tests.hostile.scenarios import SCENARIOS

AROUND = 10.0
"""Seconds before and after each attack."""
WARM_UP = 5.0
QUIET_WITHIN = 180.0
"""Seconds in which the machine should become quiet before each attack."""
HEAD = """
| Attack | p50 | p99 (quiet) | Slowest other | Slowest page | Refused | Handed over | Group sends | Webhook told \
| Memory before, at most, at the end | Recovery |
|---|---|---|---|---|---|---|---|---|---|---|"""


def row(felt: Felt) -> str:
    """A line of the table."""
    cells = [
        felt.scenario.title,
        f"{1000 * seconds_of(felt.during, 0.5):.0f} ms",
        f"{1000 * seconds_of(felt.during, 0.99):.0f} ms ({1000 * seconds_of(felt.quiet, 0.99):.0f})",
        f"{felt.slowest_other[0]:.1f} s",
        f"{felt.slowest_page:.1f} s",
        f"{len(felt.refused)} of {len(felt.during + felt.after):,}",
        *(f"{max(each, default=math.nan):.2f} s" for each in (felt.delays, felt.group_delays, felt.webhook_delays)),
        ", ".join(str(each >> 20) for each in felt.memory) + " MB",
        f"{felt.recovery:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def tell(felt: Felt) -> list[str]:
    """Print the line, what the attacker did, and what is wrong."""
    found = list(problems(felt))
    print(row(felt), flush=True)
    print(f"    attacker: {dict(felt.did.most_common())}", file=sys.stderr, flush=True)
    if felt.late is not None:
        late = f"{felt.late.messages} messages, the last after {felt.late.seconds:.3f} s"
        print(f"    handed over after the opt-out of their phone: {late}", file=sys.stderr, flush=True)
    for problem in found:
        print(f"    MISSED: {problem}", file=sys.stderr, flush=True)
    return [f"{felt.scenario.name}: {problem}" for problem in found]


def begin_quietly() -> None:
    """Wait until nothing else works: what was stored is counted then, and the last attack's jobs are done."""
    working = wait_for_quiet(QUIET_WITHIN)
    if working > BUSY:
        print(f"    The machine is not quiet: {working:.0%} of its processors work.", file=sys.stderr, flush=True)


def main() -> int:
    """Attack, tell, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each attack")
    parser.add_argument("--only", default="", help="names of attacks, with commas")
    parser.add_argument("--strength", type=float, default=1.0, help="of its full number of connections and bytes")
    options = parser.parse_args()
    known = [each.name for each in SCENARIOS]
    names = options.only.split(",") if options.only else known
    if unknown := set(names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}. There are {', '.join(known)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an early end leaves no servers behind
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o755)
        with ground(Path(folder), options.strength, durable=True) as there:
            print(HEAD)
            for scenario in (each for each in SCENARIOS if each.name in names):
                there.restart()
                begin_quietly()
                missed += tell(there.attacked(scenario, options.seconds, AROUND, WARM_UP))
            breaches = audit(there.house.engine, full=True)
            missed += [f"books: {breach}" for breach in breaches if breach.rule != "queue_moves"]
    print("\n".join(missed) or "Everything as promised.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
