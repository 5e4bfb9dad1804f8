"""All workers together keep a carrier's rate, use it, and come back to it after throttling."""

import time
from bisect import bisect_left
from pathlib import Path

import pytest

from tests.carriers.ground import phones, service
from tests.harness.house import wait_until
from tests.harness.smsc import SmscPeer, smpp_carrier, smsc_peer

RATE = 200


def busiest_second(smsc: SmscPeer) -> int:
    """Most submits within a second, wherever it begins."""
    times = sorted(each.at for each in smsc.submits)
    return max(bisect_left(times, at + 1.0) - number for number, at in enumerate(times))


def speed(smsc: SmscPeer) -> float:
    """Submits a second, of the last three."""
    now = time.monotonic()
    return sum(each.at >= now - 3 for each in smsc.submits) / 3


@pytest.mark.carriers
def test_no_second_sees_more_than_the_rate(tmp_path: Path) -> None:
    seconds = 30
    with (
        smsc_peer(rate=RATE) as smsc,
        service(tmp_path, smpp_carrier("main", smsc.port, rate=RATE), 4) as house,
    ):
        house.new_account()
        house.post("/sms/send-bulk", sender_id="ACME", phones=phones(RATE * seconds), message="Hi")
        wait_until(lambda: len(smsc.submits) >= RATE * seconds, 20 + 4 * seconds, "all messages")
        times = [each.at for each in smsc.submits]
    average = (len(times) - 1) / (times[-1] - times[0])
    assert busiest_second(smsc) <= 1.05 * RATE
    assert average > 0.975 * RATE
    assert set(smsc.taken().values()) == {1}


@pytest.mark.carriers
@pytest.mark.parametrize("round_trip", [0.02, 0.2])
def test_a_send_keeps_a_rate_of_its_own(tmp_path: Path, round_trip: float) -> None:
    """The carrier takes more. What comes late makes up for a quarter of a second."""
    seconds = 30
    with (
        smsc_peer(round_trip=round_trip) as smsc,
        service(tmp_path, smpp_carrier("main", smsc.port, rate=0), 4) as house,
    ):
        house.new_account()
        house.post("/sms/send-bulk", sender_id="ACME", phones=phones(RATE * seconds), message="Hi", rate=RATE)
        wait_until(lambda: len(smsc.submits) >= RATE * seconds, 20 + 4 * seconds, "all messages")
        times = [each.at for each in smsc.submits]
    average = (len(times) - 1) / (times[-1] - times[0])
    assert busiest_second(smsc) <= 1.35 * RATE
    assert average > 0.95 * RATE
    assert set(smsc.taken().values()) == {1}


@pytest.mark.carriers
def test_after_throttling_the_rate_is_back_within_half_a_minute(tmp_path: Path) -> None:
    with (
        smsc_peer() as smsc,
        service(tmp_path, smpp_carrier("main", smsc.port, rate=RATE), 4) as house,
    ):
        house.new_account()
        house.post("/sms/send-bulk", sender_id="ACME", phones=phones(45 * RATE), message="Hi")
        wait_until(lambda: len(smsc.submits) > RATE, 60, "the first messages")
        smsc.behave(rate=20.0)
        time.sleep(15)
        throttled = time.monotonic()
        slow = speed(smsc)
        smsc.behave(rate=0.0)
        wait_until(lambda: speed(smsc) > 0.975 * RATE, 60, "the full rate")
        back = time.monotonic() - throttled
        house.wait_for_end(120)
    busiest = busiest_second(smsc)
    assert slow < RATE / 2, "it slowed down"
    assert back < 30
    assert busiest <= 1.05 * RATE
    assert set(smsc.taken().values()) == {1}
    assert len(smsc.taken()) == 45 * RATE, "nothing is lost, and a wait is no attempt"
