"""How long a bind that failed is left alone."""

import pytest

from worker.carriers.smpp.link import FIRST_WAIT, LONGEST_WAIT, SUSPENDED_WAIT, back_off


@pytest.mark.parametrize(
    ("failures", "most"), [(1, FIRST_WAIT), (2, 1.0), (4, 4.0), (7, LONGEST_WAIT), (500, LONGEST_WAIT)]
)
def test_waits_double_and_are_bounded(failures: int, most: float) -> None:
    waits = [back_off(failures, False) for _ in range(200)]
    assert most / 2 <= min(waits) <= max(waits) <= most


def test_no_two_workers_come_back_at_once() -> None:
    assert len({back_off(3, False) for _ in range(50)}) > 40


def test_refused_credentials_are_left_alone_for_longer() -> None:
    assert min(back_off(1, True) for _ in range(50)) >= SUSPENDED_WAIT
