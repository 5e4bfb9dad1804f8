"""When a carrier may be given messages."""

from dataclasses import dataclass

import pytest

from worker.carriers.base import Answer, Outcome
from worker.pacing.circuit_breaker import FIRST_WAIT, LONGEST_WAIT, MOST_FAILURES, Gate

TAKEN, REFUSED = Outcome(Answer.ACCEPTED, "1"), Outcome(Answer.REJECTED, error="no_such_phone")
FAILED, SILENT = Outcome(Answer.FAILED, error="system_error"), Outcome(Answer.IN_DOUBT)
THROTTLED = Outcome(Answer.THROTTLED, error="throttled")


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
def gate(time: Time) -> Gate:
    return Gate(Carrier(), clock=time)  # type: ignore[arg-type]


def test_it_works(gate: Gate) -> None:
    gate.note([TAKEN] * 3)
    assert gate.room(500) == 500
    assert (gate.state, gate.error, gate.shut) == ("ready", None, False)
    assert gate.counts.submitted == 3


@pytest.mark.parametrize("failure", [FAILED, SILENT])
def test_failures_in_a_row_open_it(gate: Gate, failure: Outcome) -> None:
    gate.note([failure] * (MOST_FAILURES - 1))
    assert gate.room(500) == 500
    gate.note([failure])
    assert gate.room(500) == 0
    assert (gate.state, gate.shut) == ("open", True)
    assert gate.error == (failure.error or "no_answer")


@pytest.mark.parametrize("other", [TAKEN, REFUSED])
def test_failures_with_something_else_between_do_not(gate: Gate, other: Outcome) -> None:
    gate.note([FAILED] * (MOST_FAILURES - 1))
    gate.note([FAILED, other])
    gate.note([FAILED] * (MOST_FAILURES - 1))
    assert gate.state == "ready"


def test_after_a_wait_one_message_goes_out(gate: Gate, time: Time) -> None:
    gate.note([FAILED] * MOST_FAILURES)
    time.now += FIRST_WAIT
    assert gate.state == "probing"
    assert gate.room(500) == 1
    assert gate.room(500) == 0, "not a second one before the first was answered"
    gate.note([TAKEN])
    assert (gate.state, gate.room(500)) == ("ready", 500)


def test_a_probe_that_fails_makes_the_wait_longer_up_to_a_limit(gate: Gate, time: Time) -> None:
    gate.note([FAILED] * MOST_FAILURES)
    waits = []
    for _ in range(8):
        begun = time.now
        while not gate.room(500):
            time.now += 0.5
        waits.append(time.now - begun)
        gate.note([FAILED])
    assert waits[:3] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == LONGEST_WAIT


def test_a_probe_that_found_nothing_to_send_is_not_used_up(gate: Gate, time: Time) -> None:
    gate.note([FAILED] * MOST_FAILURES)
    time.now += FIRST_WAIT
    assert gate.room(500) == 1
    gate.unused()
    assert gate.room(500) == 1


def test_a_throttled_probe_says_nothing(gate: Gate, time: Time) -> None:
    gate.note([FAILED] * MOST_FAILURES)
    time.now += FIRST_WAIT
    assert gate.room(500) == 1
    gate.note([THROTTLED])
    assert gate.room(500) == 1
    assert gate.counts.throttled == 1


def test_a_pause_and_a_lost_bind_close_it(gate: Gate) -> None:
    gate.paused = True
    assert (gate.room(500), gate.state, gate.shut) == (0, "paused", True)
    gate.paused = False
    gate.carrier.trouble = "connecting: refused"  # type: ignore[misc]
    assert (gate.room(500), gate.state, gate.error) == (0, "down", "connecting: refused")


def test_the_simulated_carrier_never_opens_it() -> None:
    gate = Gate(Carrier(), breaks=False)  # type: ignore[arg-type]
    gate.note([FAILED] * 10 * MOST_FAILURES)
    assert gate.room(500) == 500


def test_a_refusal_for_good_closes_it(gate: Gate, time: Time) -> None:
    """Who refuses a message answers for itself: it is not the carrier that is broken."""
    gate.note([FAILED] * MOST_FAILURES)
    time.now += FIRST_WAIT
    assert gate.room(500) == 1
    gate.note([REFUSED])
    assert (gate.room(500), gate.state) == (500, "ready")
