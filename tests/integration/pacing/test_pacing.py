"""All workers together stay at the carrier's rate."""

import logging
import threading
import time
from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import fakeredis
import pytest
from redis.exceptions import ConnectionError as Away

from shared.observability.metrics import PROCESS
from tests.harness.house import wait_until
from worker.pacing.pace import CHUNK, CONVERGENCE_SECONDS, MAX_CLAIM_WAIT, CarrierPace, LiveWorkers, Pacer
from worker.pacing.redis_scripts import CLAIMED_AHEAD, DECREASE, DECREASE_INTERVAL_SECONDS, FLOOR, GROWTH

RATE = 1000.0


@dataclass
class Carrier:
    name: str = "carrier"
    rate: float = RATE


class Broken:
    """A Redis that is away."""

    def __init__(self) -> None:
        self.away = True

    def register_script(self, _: str) -> Callable[..., object]:
        def script(**_: object) -> object:
            if self.away:
                raise Away("away")
            return [b"0", str(RATE).encode()]

        return script


class Clock:
    """The module `time`, and the event whose wait moves it."""

    def __init__(self) -> None:
        self.now = 100_000.0
        self.stopped = False
        self.set_back = 0.0
        """By how much the clock of Redis was set back."""

    def monotonic(self) -> float:
        return self.now

    def of_redis(self) -> float:
        return self.now - self.set_back

    def wait(self, seconds: float) -> bool:
        self.now += max(seconds, 1e-5)  # Redis tells the time in microseconds
        return self.stopped

    def is_set(self) -> bool:
        return self.stopped


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of workers and of their Redis."""
    clock = Clock()
    monkeypatch.setattr("worker.pacing.pace.time", clock)
    monkeypatch.setattr(time, "time", clock.of_redis)
    return clock


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis has the clock by which the tests measure, which nobody sets."""
    monkeypatch.setattr(time, "time", time.monotonic)


def pace_without_redis(clock: Clock, workers: int, carrier: Carrier | None = None) -> CarrierPace:
    pacer = Pacer(None, LiveWorkers(workers, 0, clock.now), clock)  # type: ignore[arg-type]
    return CarrierPace(pacer, carrier or Carrier())


def busiest_second(times: list[float]) -> int:
    """Most of the times that lie within a second, wherever it begins."""
    times = sorted(times)
    return max(bisect_left(times, at + 1.0) - number for number, at in enumerate(times))


@pytest.mark.usefixtures("steady")
def test_several_workers_share_the_rate() -> None:
    server, taken, stop = fakeredis.FakeServer(), [], threading.Event()
    carrier = Carrier(rate=400.0)

    def work() -> None:
        pace = CarrierPace(Pacer(fakeredis.FakeRedis(server=server), LiveWorkers(4), stop), carrier)
        while pace.take(pace.chunk, time.monotonic() + 3600):
            taken.extend([time.monotonic()] * pace.chunk)

    run_in_threads(work, stop, lambda: len(taken) >= 1.5 * carrier.rate)
    assert busiest_second(taken) <= 1.1 * carrier.rate


def run_in_threads(work: Callable[[], None], stop: threading.Event, is_enough: Callable[[], bool]) -> None:
    """Run the work of four workers, and stop it when it is enough."""
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(work) for _ in range(4)]
        try:
            wait_until(is_enough, 60, "enough of the carrier")
        finally:
            stop.set()
        for each in running:
            each.result()


def test_without_redis_each_worker_takes_its_share_after_the_convergence_time(clock: Clock) -> None:
    paces = [pace_without_redis(clock, 4) for _ in range(4)]
    begun = clock.now
    times = []
    for _ in range(200):
        pace = paces[0]
        assert pace.take(pace.chunk, clock.now + 100)
        times.append(clock.now)
    assert times[0] >= begun + CONVERGENCE_SECONDS
    assert busiest_second(times) * paces[0].chunk <= RATE / 4 * 1.05 + paces[0].chunk


def test_a_worker_that_does_not_know_how_many_there_are_takes_nothing(clock: Clock) -> None:
    pace = pace_without_redis(clock, 0)
    assert not pace.take(1, clock.now + 60)


def test_those_with_redis_leave_the_others_their_share() -> None:
    pacer = Pacer(fakeredis.FakeRedis(), LiveWorkers(4, without_redis=1), threading.Event())
    assert pacer.connected_share() == 0.75
    assert not pacer.is_without_redis


def test_a_worker_that_lost_redis_waits_before_it_goes_on(clock: Clock) -> None:
    broken = Broken()
    pacer = Pacer(broken, LiveWorkers(2, 0, clock.now - 100), clock)  # type: ignore[arg-type]
    pace, begun = CarrierPace(pacer, Carrier()), clock.now
    assert pace.take(1, clock.now + 60)
    assert clock.now >= begun + CONVERGENCE_SECONDS
    assert pacer.is_without_redis
    broken.away = False
    clock.now += 10
    assert pace.take(1, clock.now + 60)
    assert not pacer.is_without_redis


def test_a_reply_to_an_earlier_call_does_not_end_an_outage(clock: Clock) -> None:
    """While one thread waits for its reply, another one's call fails."""

    class Overtaken(Broken):
        def register_script(self, code: str) -> Callable[..., object]:
            script = super().register_script(code)

            def late(**arguments: object) -> object:
                reply = script(**arguments)
                self.away = True
                assert pacer.run(pacer.take, "carrier") is None
                return reply

            return lambda **arguments: script(**arguments) if self.away else late(**arguments)

    redis = Overtaken()
    redis.away = False
    pacer = Pacer(redis, LiveWorkers(2, 0, clock.now - 100), clock)  # type: ignore[arg-type]
    pace, begun = CarrierPace(pacer, Carrier()), clock.now
    assert pace.take(1, clock.now + 60)
    assert pacer.is_without_redis
    assert pace.take(1, clock.now + 60)
    assert clock.now >= begun + CONVERGENCE_SECONDS


def test_an_outage_of_redis_is_logged_once_and_counted(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    def failures() -> float:
        return PROCESS.get_sample_value("bulksms_connection_failures_total", {"server": "redis"}) or 0.0

    caplog.set_level(logging.INFO)
    before, broken = failures(), Broken()
    pace = CarrierPace(Pacer(broken, LiveWorkers(1), clock), Carrier())  # type: ignore[arg-type]
    for _ in range(3):
        pace.take(1, clock.now + 60)
        clock.now += 10
    assert failures() >= before + 3
    broken.away = False
    pace.take(1, clock.now + 60)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_a_message_that_would_be_too_late_takes_no_place(clock: Clock) -> None:
    pace = pace_without_redis(clock, 1, Carrier(rate=1.0))
    clock.now += CONVERGENCE_SECONDS
    assert pace.take(10, clock.now + 1)
    assert not pace.take(1, clock.now + 1)
    assert pace.take(1, clock.now + 11)


@pytest.mark.parametrize("with_redis", [True, False])
def test_throttling_slows_down_and_full_speed_comes_back(clock: Clock, with_redis: bool) -> None:
    redis = fakeredis.FakeRedis() if with_redis else None
    pace = CarrierPace(Pacer(redis, LiveWorkers(1), clock), Carrier())  # type: ignore[arg-type]
    pace.throttled(500.0)
    assert pace.allowed == pytest.approx(DECREASE * RATE)
    clock.now += 0.1
    pace.throttled(500.0)
    slowed = (DECREASE + 0.1 * GROWTH) * RATE
    assert pace.allowed == pytest.approx(slowed), f"not twice within {DECREASE_INTERVAL_SECONDS} s"
    clock.now += 30
    assert pace.allowed == RATE


def test_full_speed_is_back_within_half_a_minute(clock: Clock) -> None:
    pace = pace_without_redis(clock, 1)
    for _ in range(60):
        pace.throttled(RATE)
        clock.now += DECREASE_INTERVAL_SECONDS
    assert FLOOR * RATE <= pace.allowed < 0.3 * RATE
    clock.now += 30
    assert pace.allowed == RATE


def test_throttling_limits_a_carrier_without_a_rate_for_a_while(clock: Clock) -> None:
    pace = pace_without_redis(clock, 1, Carrier(rate=0.0))
    pace.throttled(200.0)
    assert pace.allowed == pytest.approx(DECREASE * 200)
    assert pace.chunk == int(DECREASE * 200 * CHUNK)
    clock.now += 30
    assert pace.allowed == pace.chunk == 0


def test_all_workers_slow_down_together(clock: Clock) -> None:
    server = fakeredis.FakeServer()
    paces = [
        CarrierPace(Pacer(fakeredis.FakeRedis(server=server), LiveWorkers(2), clock), Carrier())  # type: ignore[arg-type]
        for _ in "ab"
    ]
    paces[0].throttled(RATE)
    assert paces[1].take(1, clock.now + 10)
    assert paces[1].allowed < 0.9 * RATE


@pytest.mark.usefixtures("steady")
def test_claims_are_spaced_at_the_rate_of_all_workers() -> None:
    server, claimed, stop = fakeredis.FakeServer(), [], threading.Event()

    def work() -> None:
        pace = CarrierPace(Pacer(fakeredis.FakeRedis(server=server), LiveWorkers(4), stop), Carrier())
        while pace.schedule_claim(50):
            claimed.append(time.monotonic())

    begun = time.monotonic()
    run_in_threads(work, stop, lambda: 50 * len(claimed) >= RATE)
    most = (time.monotonic() - begun + CLAIMED_AHEAD) * RATE + 50
    assert 50 * len(claimed) <= most


def test_a_cycle_that_would_wait_too_long_schedules_nothing() -> None:
    pace = CarrierPace(Pacer(fakeredis.FakeRedis(), LiveWorkers(1), threading.Event()), Carrier())
    pace.correct_schedule(0, int(RATE * (MAX_CLAIM_WAIT + CLAIMED_AHEAD + 60)))
    assert not pace.schedule_claim(1)
    pace.correct_schedule(int(RATE * (MAX_CLAIM_WAIT + CLAIMED_AHEAD + 60)), 0)
    assert pace.schedule_claim(1)


@pytest.mark.parametrize("rate", [0.0, RATE])
def test_without_redis_or_a_rate_turns_claim_at_once(clock: Clock, rate: float) -> None:
    pace, begun = pace_without_redis(clock, 4, Carrier(rate=rate)), clock.now
    assert all(pace.schedule_claim(1000) for _ in range(100))
    assert clock.now == begun


def test_a_carrier_goes_on_at_its_rate_when_the_clock_of_redis_is_set_back(clock: Clock) -> None:
    pace = CarrierPace(Pacer(fakeredis.FakeRedis(), LiveWorkers(1), clock), Carrier())  # type: ignore[arg-type]
    times: list[float] = []

    def submit(seconds: float) -> None:
        end = clock.now + seconds
        while clock.now < end:
            assert pace.schedule_claim(10)
            assert pace.take(10, clock.now + 60)
            times.append(clock.now)

    submit(0.5)
    clock.set_back = 7200.0
    submit(1.5)
    assert busiest_second(times) * 10 <= 1.1 * RATE
