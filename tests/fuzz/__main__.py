"""The command: `python -m tests.fuzz [--over-smpp] --runs 1000000 --seed 0`."""

import argparse
import logging
import sys
import time

from tests.fuzz import over_smpp, run

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--over-smpp", action="store_true", help="feed a running SMPP server, not the parsers")
parser.add_argument("--runs", type=int, default=1_000_000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--first", type=int, default=0)
options = parser.parse_args()
logging.disable(logging.CRITICAL)
fuzz = over_smpp.fuzz if options.over_smpp else run.fuzz
began, memory = time.monotonic(), 0
for done, memory in fuzz(options.runs, options.seed, options.first):
    print(f"\r{done:,} of {options.runs:,}, {memory >> 20} MB", end="", file=sys.stderr, flush=True)
took = f"{memory >> 20} MB, {time.monotonic() - began:.0f} s"
print(f"\n{options.runs:,} inputs, seed {options.seed}: no crash, no hang, {took}")
