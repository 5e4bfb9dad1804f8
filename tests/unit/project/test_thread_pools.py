"""The thread pools of an API process leave connections to commits."""

import pytest

from api.limits.bulkheads import FairThreadPool
from api.server.thread_pools import ThreadPools
from shared.db.pools import OVERFLOW


def pools(connections: int) -> list[FairThreadPool]:
    made = vars(ThreadPools(lambda *_: (), connections)).values()
    return [each for each in made if isinstance(each, FairThreadPool)]


def chunks(connections: int) -> int:
    """How many chunks of exports are made at a time."""
    return max(1, min(connections // 4, 4))


@pytest.mark.parametrize("connections", range(1, 33))
def test_slow_reads_leave_connections_to_commits(connections: int) -> None:
    """Also with the fewest connections that a process may have."""
    (accounts,) = (pool.threads for pool in pools(connections) if pool.name == "accounts")
    assert accounts + chunks(connections) < connections + OVERFLOW
