"""Every attack at length: `python -m tests.hostile.run [--seconds 60] [--only never,slow,poison] [--markdown FILE]`.

Prints what the victim felt of each, and what the jobs of others felt of poisoned objects. The exit code is 1 where that
is more than was promised, where an attack was none, or where the books are wrong.
"""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from shared.audit.check import audit
from tests.hostile import poison_costs
from tests.hostile.felt import Felt, problems
from tests.hostile.ground import Ground, ground
from tests.hostile.quiet import BUSY, wait_for_quiet
from tests.hostile.scenarios import SCENARIOS
from tests.hostile.table import HEAD, Tables, cells

AROUND = 10.0
"""Seconds before and after each attack."""
WARM_UP = 5.0
QUIET_WITHIN = 180.0
"""Seconds in which the machine should become quiet before each attack."""


def tell(tables: Tables, felt: Felt) -> list[str]:
    """Print the line, what the attacker did, and what is wrong."""
    found = list(problems(felt))
    tables.row(cells(felt))
    print(f"    attacker: {dict(felt.did.most_common())}", file=sys.stderr, flush=True)
    if felt.late is not None:
        late = f"{felt.late.messages} messages, the last after {felt.late.seconds:.3f} s"
        print(f"    handed over after the opt-out of their phone: {late}", file=sys.stderr, flush=True)
    for problem in found:
        print(f"    MISSED: {problem}", file=sys.stderr, flush=True)
    return [f"{felt.scenario.name}: {problem}" for problem in found]


def tell_of_poison(tables: Tables, there: Ground) -> list[str]:
    """Print what poisoned objects cost others, and return what is wrong."""
    costs = poison_costs.measured(there.house)
    tables.head(poison_costs.HEAD)
    for row in poison_costs.rows(costs):
        tables.row(row)
    print(f"    failed in a turn, of {poison_costs.COUNT} each: {costs.failed}", file=sys.stderr, flush=True)
    return [f"poison: {problem}" for problem in poison_costs.problems(costs)]


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
    parser.add_argument("--markdown", type=Path, default=None, help="the file that gets the tables, too")
    options = parser.parse_args()
    known = [*(each.name for each in SCENARIOS), "poison"]
    names = options.only.split(",") if options.only else known
    if unknown := set(names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}. There are {', '.join(known)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an early end leaves no servers behind
    tables, missed = Tables(options.markdown), list[str]()
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o755)
        with ground(Path(folder), options.strength, durable=True) as there:
            if "poison" in names:
                begin_quietly()
                missed += tell_of_poison(tables, there)
                tables.line()
            tables.head(HEAD)
            for scenario in (each for each in SCENARIOS if each.name in names):
                there.restart()
                begin_quietly()
                missed += tell(tables, there.attacked(scenario, options.seconds, AROUND, WARM_UP))
            breaches = audit(there.house.engine, full=True)
            missed += [f"books: {breach}" for breach in breaches if breach.rule != "queue_moves"]
    print("\n".join(missed) or "Everything as promised.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
