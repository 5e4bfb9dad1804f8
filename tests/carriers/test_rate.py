"""All workers together keep a carrier's rate, use it, and come back to it after throttling."""

import time
from pathlib import Path

import pytest

from tests.carriers.ground import CARRIER, Seen, carrier, phones, service
from tests.harness.house import wait_until

RATE = 200


@pytest.mark.carriers
def test_no_second_sees_more_than_the_rate(tmp_path: Path) -> None:
    seconds = 30
    with (
        carrier(rate=RATE) as smsc,
        service(tmp_path, CARRIER.format(name="main", port=smsc.port, rate=RATE), 4) as house,
    ):
        house.new_account()
        house.post("/sms/send-bulk", sender_id="ACME", phones=phones(RATE * seconds), message="Hi")
        wait_until(lambda: len(smsc.seen.times) >= RATE * seconds, 20 + 4 * seconds, "all messages")
        times = smsc.seen.times
    average = (len(times) - 1) / (times[-1] - times[0])
    assert smsc.seen.busiest_second() <= 1.05 * RATE
    assert average > 0.975 * RATE
    assert set(smsc.seen.taken().values()) == {1}


@pytest.mark.carriers
@pytest.mark.parametrize("round_trip", [0.02, 0.2])
def test_a_send_keeps_a_rate_of_its_own(tmp_path: Path, round_trip: float) -> None:
    """The carrier takes more. What comes late makes up for a quarter of a second."""
    seconds = 30
    file = CARRIER.format(name="main", port="{port}", rate=0)
    with (
        carrier(round_trip=round_trip) as smsc,
        service(tmp_path, file.replace("{port}", str(smsc.port)), 4) as house,
    ):
        house.new_account()
        house.post("/sms/send-bulk", sender_id="ACME", phones=phones(RATE * seconds), message="Hi", rate=RATE)
        wait_until(lambda: len(smsc.seen.times) >= RATE * seconds, 20 + 4 * seconds, "all messages")
        times = smsc.seen.times
    average = (len(times) - 1) / (times[-1] - times[0])
    assert smsc.seen.busiest_second() <= 1.35 * RATE
    assert average > 0.95 * RATE
    assert set(smsc.seen.taken().values()) == {1}


def speed(seen: Seen) -> float:
    """Messages a second, of the last three."""
    now = time.monotonic()
    return seen.since(now - 3, now) / 3


@pytest.mark.carriers
def test_after_throttling_the_rate_is_back_within_half_a_minute(tmp_path: Path) -> None:
    with (
        carrier() as smsc,
        service(tmp_path, CARRIER.format(name="main", port=smsc.port, rate=RATE), 4) as house,
    ):
        house.new_account()
        house.post("/sms/send-bulk", sender_id="ACME", phones=phones(45 * RATE), message="Hi")
        wait_until(lambda: len(smsc.seen.times) > RATE, 60, "the first messages")
        smsc.behave(rate=20.0)
        time.sleep(15)
        throttled = time.monotonic()
        slow = smsc.seen.since(throttled - 3, throttled)
        smsc.behave()
        wait_until(lambda: speed(smsc.seen) > 0.975 * RATE, 60, "the full rate")
        back = time.monotonic() - throttled
        house.wait_for_end(120)
    busiest = smsc.seen.busiest_second()
    assert slow / 3 < RATE / 2, "it slowed down"
    assert back < 30
    assert busiest <= 1.05 * RATE
    assert set(smsc.seen.taken().values()) == {1}
    assert len(smsc.seen.taken()) == 45 * RATE, "nothing is lost, and a wait is no attempt"
