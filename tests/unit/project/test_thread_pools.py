"""docs/explanation/security.md lists the thread pools of an API process, and the architecture refers to that list."""

import re
from pathlib import Path

import pytest

from api.limits.bulkheads import FairThreadPool
from api.server.thread_pools import ThreadPools
from shared.db.pools import OVERFLOW

PAGE = Path("docs/explanation/security.md").read_text()
ROWS = re.findall(r"^\| `([\w-]+)` \| (.+) \| (.+) \| .+ \|$", PAGE, re.M)
LESS_CHUNKS, QUARTER = "`DATABASE_POOL` less the chunks at a time", "a quarter of `DATABASE_POOL`"
NUMBERS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")


def pools(connections: int) -> list[FairThreadPool]:
    made = vars(ThreadPools(lambda *_: (), connections)).values()
    return [each for each in made if isinstance(each, FairThreadPool)]


def chunks(connections: int) -> int:
    """How many chunks of exports are made at a time."""
    return max(1, min(connections // 4, 4))


@pytest.mark.parametrize("connections", [8, 12, 20])
def test_it_works(connections: int) -> None:
    words = {LESS_CHUNKS: connections - chunks(connections), QUARTER: connections // 4}
    listed = {
        name: tuple(words[size] if size in words else int(size) for size in sizes)
        for name, *sizes in ROWS
        if name in {pool.name for pool in pools(connections)}
    }
    made = pools(connections)
    assert listed == {pool.name: (pool.threads, pool.max_per_owner) for pool in made}
    assert f"has {NUMBERS[len(made) - 3]} thread pools" in PAGE


@pytest.mark.parametrize("connections", range(1, 33))
def test_slow_reads_leave_connections_to_commits(connections: int) -> None:
    """Also with the fewest connections that a process may have."""
    (accounts,) = (pool.threads for pool in pools(connections) if pool.name == "accounts")
    assert accounts + chunks(connections) < connections + OVERFLOW
