"""Late responses are reported until their doubts are recorded."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import OperationalError

from tests.unit.carriers.smpp.making import KeptInbox
from worker.carriers import late_responses as module
from worker.carriers.base import LateResponse, Outcome, ResponseKind
from worker.carriers.late_responses import GIVE_UP_SECONDS, HOLD_SECONDS, LateResponses

FIRST, SECOND = (LateResponse(UUID(int=number), Outcome(ResponseKind.ACCEPTED, f"id{number}")) for number in (1, 2))


class Recorder:
    """Records late responses in the way that it is told, or as it should. Time passes only in `after`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.late = LateResponses("main")
        self.late._inbox = KeptInbox(resolve_late=self.resolve_late)
        self.record: Callable[[list[LateResponse]], Any] = lambda responses: []
        self.calls: list[list[LateResponse]] = []

    def resolve_late(self, responses: list[LateResponse]) -> list[LateResponse]:
        self.calls.append(responses)
        made: list[LateResponse] = self.record(responses)
        return made

    def give(self, *responses: LateResponse) -> None:
        for response in responses:
            self.late.add(partial(LateResponse, *response))

    def after(self, seconds: float) -> list[list[LateResponse]]:
        """What has been reported by then."""
        self.now += seconds
        self.late._report(self.now)
        return self.calls


def fail(responses: list[LateResponse]) -> None:
    raise ValueError("no row can hold this")


def out_of_reach(responses: list[LateResponse]) -> None:
    raise OperationalError("INSERT", None, Exception("no answer"))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def test_a_late_response_waits_until_the_doubt_is_recorded(recorder: Recorder) -> None:
    recorder.give(FIRST)
    assert recorder.after(HOLD_SECONDS / 2) == []
    assert recorder.after(HOLD_SECONDS / 2) == [[FIRST]]
    assert recorder.after(GIVE_UP_SECONDS) == [[FIRST]]


def test_those_that_could_not_be_stored_are_reported_again(recorder: Recorder) -> None:
    recorder.record = fail
    recorder.give(FIRST, SECOND)
    recorder.after(HOLD_SECONDS)
    recorder.record = lambda responses: []
    assert recorder.after(HOLD_SECONDS) == [[FIRST, SECOND]] * 2
    assert recorder.after(HOLD_SECONDS) == [[FIRST, SECOND]] * 2


def test_one_that_came_before_its_doubt_is_reported_again(recorder: Recorder) -> None:
    recorder.record = lambda responses: [SECOND]
    recorder.give(FIRST, SECOND)
    recorder.after(HOLD_SECONDS)
    assert recorder.after(HOLD_SECONDS) == [[FIRST, SECOND], [SECOND]]


@pytest.mark.parametrize("record", [list, fail], ids=["its doubt is never recorded", "it cannot be stored"])
def test_one_is_given_up_after_a_while(recorder: Recorder, record: Callable[..., Any]) -> None:
    recorder.record = record
    recorder.give(FIRST)
    recorder.after(GIVE_UP_SECONDS - 0.1)
    assert recorder.after(HOLD_SECONDS) == [[FIRST]] * 2
    assert recorder.after(GIVE_UP_SECONDS) == [[FIRST]] * 2


def test_none_is_given_up_while_the_database_is_unavailable(recorder: Recorder) -> None:
    """Recovery records its doubt only after that."""
    recorder.record = out_of_reach
    recorder.give(FIRST)
    for times in range(1, 4):
        assert recorder.after(GIVE_UP_SECONDS + 1) == [[FIRST]] * times


def test_an_undecided_message_is_not_reported(recorder: Recorder) -> None:
    recorder.late.add(lambda: None)
    assert recorder.after(HOLD_SECONDS) == []
