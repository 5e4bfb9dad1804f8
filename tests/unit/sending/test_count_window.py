"""What is counted of a window."""

import uuid
from datetime import UTC, datetime

from shared.observability.metrics import PROCESS
from worker.carriers.base import Outcome, ResponseKind, unsubmitted
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.windows import count_window

TAKEN = Outcome(ResponseKind.ACCEPTED, "1")
THROTTLED = Outcome(ResponseKind.THROTTLED, error="ESME_RTHROTTLED")
UNSUBMITTED = unsubmitted("not_connected")


def batch_of(messages: int, segments: int) -> ClaimedBatch:
    return ClaimedBatch(
        batch_id=uuid.uuid4(),
        send_id=uuid.uuid4(),
        account_id=1,
        epoch=1,
        kind="list",
        sender_id="ACME",
        message="x",
        encoding="gsm7",
        segments=segments,
        price=1,
        test=False,
        lane=0,
        expires_at=datetime.now(UTC),
        size=messages,
        next_index=1,
        retry_indexes=[],
        attempts=0,
        recipients="\n".join(["254700000001"] * messages),
        intent=messages,
        watermark=messages,
        lease_until="2026-01-02 03:04:05+00",
    )


def count(carrier: str, outcomes: list[Outcome]) -> None:
    batches = [batch_of(2, segments=1), batch_of(len(outcomes) - 2, segments=3)]
    window = [(batch, list(range(batch.size))) for batch in batches]
    segments = sum(batch.size * batch.segments for batch in batches)
    count_window(carrier, window, outcomes, segments, since_claim=0.2, seconds=0.1)


def counted(name: str, carrier: str, **labels: str) -> float | None:
    return PROCESS.get_sample_value(name, {"carrier": carrier, **labels})


def test_it_works() -> None:
    count("all taken", [TAKEN] * 3)
    assert counted("bulksms_carrier_responses_total", "all taken", response="accepted") == 3
    assert counted("bulksms_carrier_segments_total", "all taken") == 5
    assert counted("bulksms_carrier_response_duration_seconds_count", "all taken") == 1


def test_messages_that_were_not_submitted_are_not_counted() -> None:
    count("closing", [TAKEN, UNSUBMITTED, TAKEN, THROTTLED, UNSUBMITTED])
    assert counted("bulksms_carrier_responses_total", "closing", response="accepted") == 2
    assert counted("bulksms_carrier_responses_total", "closing", response="throttled") == 1
    assert counted("bulksms_carrier_segments_total", "closing") == 1 + 3 + 3


def test_a_window_that_was_not_submitted_has_no_responses() -> None:
    count("closed", [UNSUBMITTED] * 3)
    assert counted("bulksms_carrier_responses_total", "closed", response="throttled") is None
    assert not counted("bulksms_carrier_segments_total", "closed")
    assert not counted("bulksms_carrier_response_duration_seconds_count", "closed")
