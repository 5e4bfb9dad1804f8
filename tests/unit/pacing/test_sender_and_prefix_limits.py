"""Limits: which messages count, where they stand, and how fast they may leave."""

import time

import pytest

from worker.pacing.sender_and_prefix_limits import CombinedPace, Limit
from worker.routing.routes import Choice, Route, Routes

ACME, KENYA, BOTH = Limit(10, "ACME"), Limit(20, prefix="2547"), Limit(5, "ACME", "2547")


def choose(phone: str, sender: str = "ACME", *limits: Limit) -> Choice:
    routes = Routes((Route("all", ("one",)),), {"one": {}}, limits or (BOTH, ACME, KENYA))
    return routes.chooser(sender, 1, 0, {"one"})(phone)


def test_it_works() -> None:
    assert choose("255711000000").limits == ("sender ACME",)
    assert choose("255711000000").queue == "one/sender ACME"


def test_every_matching_limit_applies() -> None:
    assert choose("254711000000").limits == ("sender ACME prefix 2547", "sender ACME", "prefix 2547")
    assert choose("254711000000", "BANK").limits == ("prefix 2547",)


def test_without_a_matching_limit_it_is_the_queue_of_the_carrier() -> None:
    assert choose("254911000000", "BANK") == Choice("one", "all", "first")
    assert choose("254911000000", "BANK").queue == "one"


def test_the_slowest_limit_decides_how_long_it_takes() -> None:
    routes = Routes((Route("all", ("one",)),), {"one": {}}, (ACME, KENYA))
    choice = routes.chooser("ACME", 1, 0, {"one"})("254711000000")
    assert routes.seconds(choice, 40) == 4
    assert routes.seconds(Choice("one", "all", "first"), 40) == 0


class Fixed:
    """A pace that lets so many leave."""

    def __init__(self, allowed: float, left: int = 0) -> None:
        self.allowed, self.left = allowed, left
        self.chunk = int(allowed / 10)
        self.throttles = 0
        self.scheduled = 0

    def schedule_claim(self, segments: int) -> bool:
        if self.left < segments:
            return False
        self.scheduled += segments
        return True

    def correct_schedule(self, segments: int, claimed: int) -> None:
        self.scheduled += claimed - segments

    def take(self, segments: int, deadline: float) -> bool:
        self.left -= segments
        return self.left >= 0

    def throttled(self, taken: float) -> None:
        self.throttles += 1


class OneCarrier:
    """All that a pace asks of a carrier."""

    def __init__(self, pace: Fixed) -> None:
        self.pace = pace


def test_a_message_needs_room_under_every_limit() -> None:
    narrow, wide = Fixed(10, left=3), Fixed(10, left=100)
    pace = CombinedPace([narrow, wide], OneCarrier(Fixed(0)))  # type: ignore[arg-type]
    assert pace.take(3, time.monotonic())
    assert not pace.take(1, time.monotonic())


@pytest.mark.parametrize(("narrow", "carrier", "scheduled"), [(9, 9, 3), (2, 9, 0), (9, 2, 0)])
def test_a_claim_that_one_limit_refuses_is_scheduled_under_none(narrow: int, carrier: int, scheduled: int) -> None:
    paces = [Fixed(10, left=9), Fixed(10, left=narrow), Fixed(10, left=carrier)]
    pace = CombinedPace(paces[:2], OneCarrier(paces[2]))  # type: ignore[arg-type]
    assert pace.schedule_claim(3) == (scheduled > 0)
    assert [each.scheduled for each in paces] == [scheduled] * 3
