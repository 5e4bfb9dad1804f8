"""The loop over the parsers: each input is made from the seed and its number, so a finding can be had again alone."""

import random
import time
from collections.abc import Iterator

import psutil

from tests.fuzz.mutate import Mutator
from tests.fuzz.targets import TARGETS, Target

HANG = 5.0
"""Seconds of CPU for one input, which takes less than a thousandth."""
WARM = 0.2
"""Share of the runs after which memory is looked at for the first time."""
GROWTH = 32 * 2**20
"""Bytes that a process may grow by from then on."""


class Finding(AssertionError):
    """An input that broke a reader: says how to have it again."""


def one(seed: int, number: int) -> tuple[Target, Mutator, bytes]:
    """The input of that number."""
    rng = random.Random(f"{seed}/{number}")
    mutator = Mutator(rng)
    target = TARGETS[number % len(TARGETS)]
    if rng.random() < 0.02:
        return target, mutator, mutator.noise()
    data, other = rng.choice(target.seeds), rng.choice(target.seeds)
    if target.name in ("framing", "smsc"):
        data = b"".join(rng.choice(target.seeds) for _ in range(rng.randrange(1, 6)))
    return target, mutator, mutator.spoil(data, other)


def fuzz(runs: int, seed: int, first: int = 0) -> Iterator[tuple[int, int]]:
    """Run that many inputs. Yields how many were run, and this process's memory in bytes. Raises Finding."""
    process, before = psutil.Process(), 0
    for number in range(first, first + runs):
        target, mutator, data = one(seed, number)
        began = time.thread_time()
        try:
            target.feed(data, mutator)
        except Exception as error:
            raise Finding(f"{target.name}: {error!r}: --seed {seed} --first {number} --runs 1: {data!r}") from error
        if time.thread_time() - began > HANG:
            raise Finding(f"{target.name} hangs: --seed {seed} --first {number} --runs 1: {data!r}")
        if number - first == int(runs * WARM):
            before = process.memory_info().rss
        if (number + 1) % 20_000 == 0:
            yield number + 1 - first, process.memory_info().rss
    grown = process.memory_info().rss - before
    if runs >= 100_000 and grown > GROWTH:
        raise Finding(f"memory has grown by {grown / 2**20:.0f} MB: --seed {seed} --runs {runs}")
    yield runs, process.memory_info().rss
