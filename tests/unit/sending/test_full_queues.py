"""Whether "queue full" is about single recipients, or about the carrier."""

from dataclasses import dataclass, field

import pytest

from tests.unit.sending.test_count_window import batch_of
from worker.carriers.base import Outcome, ResponseKind
from worker.sending.full_queues import MESSAGES, SECONDS, FullQueues

TAKEN, FULL = Outcome(ResponseKind.ACCEPTED, "1"), Outcome(ResponseKind.POSTPONED, error="ESME_RMSGQFUL")
OF_CARRIER = Outcome(ResponseKind.THROTTLED, error="ESME_RMSGQFUL")


@dataclass
class Sending:
    """A worker that submits windows of messages, each to a phone of its own."""

    now: float = 1000.0
    phones: int = 0
    queues: FullQueues = field(init=False)

    def __post_init__(self) -> None:
        self.queues = FullQueues(lambda: self.now)

    def window(self, messages: int, full: int, *, attempts: int = 0, phones: list[str] | None = None) -> list[Outcome]:
        """What becomes of the full ones of a window."""
        batch = batch_of(messages, segments=1)
        batch.attempts = attempts
        batch.phones = phones or [str(254700000000 + self.phones + number) for number in range(messages)]
        self.phones += messages
        outcomes = [FULL] * full + [TAKEN] * (messages - full)
        judged = self.queues.judge([(batch, list(range(messages)))], outcomes)
        assert judged[full:] == outcomes[full:]
        return judged[:full]


@pytest.mark.parametrize(
    ("messages", "full", "outcome"),
    [
        (400, 400, OF_CARRIER),
        (400, 41, OF_CARRIER),
        (400, 40, FULL),
        (5, 5, OF_CARRIER),
        (4, 4, FULL),  # too few to tell
        (1, 1, FULL),
    ],
)
def test_many_phones_of_a_window(messages: int, full: int, outcome: Outcome) -> None:
    assert Sending().window(messages, full) == [outcome] * full


def test_a_full_queue_of_one_sender_is_not_the_carriers() -> None:
    """Twilio's 21611, declared as postponed."""
    batch = batch_of(400, segments=1)
    batch.phones = [str(254700000000 + number) for number in range(400)]
    outcomes = [Outcome(ResponseKind.POSTPONED, error="throttled=21611")] * 400
    assert FullQueues().judge([(batch, list(range(400)))], outcomes) == outcomes


def test_many_phones_of_several_windows() -> None:
    sending = Sending()
    assert [sending.window(2, 1)[0] for _ in range(6)] == [*[FULL] * 4, *[OF_CARRIER] * 2]


def test_a_tenth_of_many_small_windows() -> None:
    sending = Sending()
    assert {sending.window(10, 1)[0] for _ in range(3 * MESSAGES)} == {FULL}


def test_what_was_long_ago_does_not_count() -> None:
    sending = Sending()
    assert sending.window(8, 8) == [OF_CARRIER] * 8
    sending.now += SECONDS + 1
    assert sending.window(1, 1) == [FULL]


def test_a_phone_that_was_full_before_does_not_count() -> None:
    sending = Sending()
    assert sending.window(20, 20, attempts=1) == [FULL] * 20
    phones = ["254711000000", "254711000001", "254711000002", "254711000003"]
    assert {outcome for _ in range(5) for outcome in sending.window(4, 4, phones=phones)} == {FULL}
