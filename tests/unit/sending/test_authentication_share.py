"""The part of a carrier that authentication is given for certain."""

from types import SimpleNamespace
from typing import Any

import pytest

from worker.sending.next_batches import AUTHENTICATION, AuthenticationShare


def batches(segments: int, lane: int = AUTHENTICATION) -> list[Any]:
    return [SimpleNamespace(indexes=range(segments), segments=1, lane=lane)] if segments else []


def test_it_works() -> None:
    assert AuthenticationShare(0.2).take_owed(25) == 5


@pytest.mark.parametrize("room", [1, 3, 25, 4000])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 1.0])
def test_over_many_cycles_of_any_size_authentication_gets_its_share(room: int, share: float) -> None:
    guarantee, cycles = AuthenticationShare(share), 1000
    taken = 0
    for _ in range(cycles):
        due = guarantee.take_owed(room)
        guarantee.report(due, batches(due))
        taken += due
    assert taken == pytest.approx(share * room * cycles, abs=1)


def test_a_lane_without_messages_saves_up_no_more_than_a_turn() -> None:
    guarantee = AuthenticationShare(0.2)
    for _ in range(100):
        guarantee.report(guarantee.take_owed(25), batches(25, lane=2))
    assert guarantee.take_owed(25) == 10
    slow = AuthenticationShare(0.2)
    for _ in range(100):
        slow.report(slow.take_owed(1), batches(1, lane=2))
    assert slow.take_owed(1) == 1, "a carrier with a message a second takes the first code at once"


def test_a_share_missed_because_of_a_lock_is_made_up_later() -> None:
    guarantee = AuthenticationShare(0.2)
    guarantee.report(guarantee.take_owed(25), batches(25, lane=2))
    due = guarantee.take_owed(25)
    guarantee.report(due, batches(due))
    assert due == 10
    assert guarantee.take_owed(25) == 5


def test_getting_more_by_fair_order_does_not_reduce_the_share() -> None:
    guarantee = AuthenticationShare(0.2)
    for _ in range(100):
        guarantee.report(guarantee.take_owed(25), batches(25))
    assert guarantee.take_owed(25) == 5
