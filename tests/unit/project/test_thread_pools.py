"""The thread pools of an API process leave connections to commits."""

import pytest

from api.limits.bulkheads import FairThreadPool
from api.server.thread_pools import ThreadPools
from shared.db.pools import OVERFLOW


@pytest.mark.parametrize("connections", range(1, 33))
def test_slow_reads_leave_connections_to_commits(connections: int) -> None:
    """Also with the fewest connections that a process may have."""
    made = vars(ThreadPools(lambda *_: (), connections)).values()
    pools = {pool.name: pool.threads for pool in made if isinstance(pool, FairThreadPool)}
    assert pools["accounts"] + pools["exports"] < connections + OVERFLOW
