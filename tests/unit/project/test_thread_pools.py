"""docs/explanation/security.md lists the thread pools of an API process, and the other pages refer to that list."""

import re
from pathlib import Path

import pytest

from api.limits.bulkheads import FairThreadPool
from api.server.thread_pools import ThreadPools

PAGE = Path("docs/explanation/security.md").read_text()
ROWS = re.findall(r"^\| `([\w-]+)` \| (\d+|`DATABASE_POOL`) \| (\d+|a quarter) \| .+ \|$", PAGE, re.M)
NUMBERS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")


def test_it_works() -> None:
    size = 20
    listed = {
        name: (int(threads) if threads.isdigit() else size, int(most) if most.isdigit() else size // 4)
        for name, threads, most in ROWS
    }
    made = [each for each in vars(ThreadPools(lambda *_: (), size)).values() if isinstance(each, FairThreadPool)]
    assert listed == {pool.name: (pool.threads, pool.max_per_owner) for pool in made}
    assert f"has {NUMBERS[len(made) - 3]} thread pools" in PAGE


@pytest.mark.parametrize("page", ["docs/explanation/architecture.md", "docs/explanation/serving.md"])
def test_other_pages_link_to_the_list(page: str) -> None:
    text = Path(page).read_text()
    assert "security.md#thread-pools" in text
    assert not re.search(rf"\b({'|'.join(NUMBERS)}) (thread )?(pools|lanes)", text)
