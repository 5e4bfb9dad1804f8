"""When a carrier may be given messages."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import pytest

from worker.carriers.base import Outcome, ResponseKind, unsubmitted
from worker.pacing.circuit_breaker import FIRST_WAIT, MAX_FAILURES, MAX_WAIT, CircuitBreaker, OutcomeCounts

TAKEN, REFUSED = Outcome(ResponseKind.ACCEPTED, "1"), Outcome(ResponseKind.REJECTED, error="no_such_phone")
FAILED, SILENT = Outcome(ResponseKind.FAILED, error="system_error"), Outcome(ResponseKind.IN_DOUBT)
THROTTLED = Outcome(ResponseKind.THROTTLED, error="throttled")


@dataclass
class Carrier:
    name: str = "main"
    rate: float = 0.0
    window: int = 10
    trouble: str | None = None


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def breaker(time: Time) -> CircuitBreaker:
    return CircuitBreaker(Carrier(), clock=time)  # type: ignore[arg-type]


def test_windows_that_end_at_once_are_all_counted(breaker: CircuitBreaker) -> None:
    both = threading.Barrier(2)

    class Meeting(OutcomeCounts):
        """Two threads read `submitted` before either changes it, if nothing prevents that."""

        @property
        def submitted(self) -> int:  # type: ignore[override]
            read = self._submitted
            with suppress(threading.BrokenBarrierError):
                both.wait(0.5)
            return read

        @submitted.setter
        def submitted(self, count: int) -> None:
            self._submitted = count

    breaker.counts = counts = Meeting()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(breaker.note, [[TAKEN], [TAKEN, FAILED]]))
    assert counts._submitted == 3


@pytest.mark.parametrize("failure", [FAILED, SILENT])
def test_failures_in_a_row_open_it(breaker: CircuitBreaker, failure: Outcome) -> None:
    breaker.note([failure] * (MAX_FAILURES - 1))
    assert breaker.admit(500) == 500
    breaker.note([failure])
    assert breaker.admit(500) == 0
    assert (breaker.state, breaker.is_stopping) == ("open", True)
    assert breaker.error == (failure.error or "no_response")


def test_a_missing_route_is_no_failure_of_the_carrier(breaker: CircuitBreaker) -> None:
    breaker.note([Outcome(ResponseKind.FAILED, error="no_route=21408")] * 2 * MAX_FAILURES)
    assert breaker.state == "ready"


@pytest.mark.parametrize("other", [TAKEN, REFUSED])
def test_failures_that_are_not_in_a_row_do_not_open_it(breaker: CircuitBreaker, other: Outcome) -> None:
    breaker.note([FAILED] * (MAX_FAILURES - 1))
    breaker.note([FAILED, other])
    breaker.note([FAILED] * (MAX_FAILURES - 1))
    assert breaker.state == "ready"


def test_after_a_wait_one_message_goes_out(breaker: CircuitBreaker, time: Time) -> None:
    breaker.note([FAILED] * MAX_FAILURES)
    time.now += FIRST_WAIT
    assert breaker.state == "probing"
    assert breaker.admit(500) == 1
    assert breaker.admit(500) == 0, "not a second one before the first was answered"
    breaker.note([TAKEN])
    assert (breaker.state, breaker.admit(500)) == ("ready", 500)


def test_a_probe_that_fails_makes_the_wait_longer_up_to_a_limit(breaker: CircuitBreaker, time: Time) -> None:
    breaker.note([FAILED] * MAX_FAILURES)
    waits = []
    for _ in range(8):
        begun = time.now
        while not breaker.admit(500):
            time.now += 0.5
        waits.append(time.now - begun)
        breaker.note([FAILED])
    assert waits[:3] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == MAX_WAIT


def test_a_probe_that_found_nothing_to_send_is_not_used_up(breaker: CircuitBreaker, time: Time) -> None:
    breaker.note([FAILED] * MAX_FAILURES)
    time.now += FIRST_WAIT
    assert breaker.admit(500) == 1
    breaker.unused()
    assert breaker.admit(500) == 1


def test_a_throttled_probe_is_inconclusive(breaker: CircuitBreaker, time: Time) -> None:
    breaker.note([FAILED] * MAX_FAILURES)
    time.now += FIRST_WAIT
    assert breaker.admit(500) == 1
    breaker.note([THROTTLED])
    assert breaker.admit(500) == 1
    assert breaker.counts.throttled == 1


def test_a_pause_and_a_lost_bind_close_it(breaker: CircuitBreaker) -> None:
    breaker.paused = True
    assert (breaker.admit(500), breaker.state, breaker.is_stopping) == (0, "paused", True)
    breaker.paused = False
    breaker.carrier.trouble = "connecting: refused"  # type: ignore[misc]
    assert (breaker.admit(500), breaker.state, breaker.error) == (0, "down", "connecting: refused")


def test_a_refusal_for_good_closes_it(breaker: CircuitBreaker, time: Time) -> None:
    """Who refuses a message answers for itself: it is not the carrier that is broken."""
    breaker.note([FAILED] * MAX_FAILURES)
    time.now += FIRST_WAIT
    assert breaker.admit(500) == 1
    breaker.note([REFUSED])
    assert (breaker.admit(500), breaker.state) == (500, "ready")


def test_messages_that_were_not_submitted_are_not_counted(breaker: CircuitBreaker) -> None:
    breaker.note([TAKEN] * 3 + [THROTTLED] + [unsubmitted("not_connected")] * 4)
    assert (breaker.counts.submitted, breaker.counts.throttled) == (4, 1)
