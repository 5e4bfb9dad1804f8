"""Who is refused again and again waits for it; nobody else does, and for nothing else."""

from types import SimpleNamespace

import pytest

from api.limits import rate_limits
from api.limits.bulkheads import OperatorOwner, Owner
from api.limits.refusal_delays import (
    BURST_SECONDS,
    MAX_DELAY_OF_ACCOUNT,
    MAX_DELAY_OF_ADDRESS,
    OF_ACCOUNT,
    OF_ADDRESS,
    Refusals,
)

ACCOUNT, OPERATOR, ADDRESS = 1, OperatorOwner("operator key opk_1"), "198.51.100.1"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stands still: no refusal is forgotten."""
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(monotonic=lambda: 1.0))


@pytest.mark.parametrize("owner", [ACCOUNT, OPERATOR])
def test_it_works(owner: Owner) -> None:
    refusals = Refusals()
    assert refusals.delay(owner, 429) == 0
    for _ in range(10_000):
        last = refusals.delay(owner, 429)
    assert last == MAX_DELAY_OF_ACCOUNT


def test_a_few_refusals_come_at_once() -> None:
    refusals = Refusals()
    assert not any(refusals.delay(ACCOUNT, 402) for _ in range(int(OF_ACCOUNT * BURST_SECONDS)))
    assert not any(refusals.delay(ADDRESS, 401) for _ in range(int(OF_ADDRESS * BURST_SECONDS)))


def test_only_refusals_count() -> None:
    refusals = Refusals()
    for _ in range(10_000):
        assert not refusals.delay(ACCOUNT, 200) and not refusals.delay(ACCOUNT, 503)
    assert not refusals.delay(ACCOUNT, 400)


def test_others_are_not_delayed() -> None:
    refusals = Refusals()
    for _ in range(10_000):
        refusals.delay(ADDRESS, 401)
    assert refusals.delay(ADDRESS, 401) == MAX_DELAY_OF_ADDRESS
    assert not refusals.delay("198.51.100.2", 401) and not refusals.delay(ACCOUNT, 401)


def test_a_large_refused_body_counts_as_many() -> None:
    refusals = Refusals()
    assert refusals.delay(ADDRESS, 400, body_bytes=8 * 1024 * 1024) == MAX_DELAY_OF_ADDRESS
