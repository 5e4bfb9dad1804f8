"""Counts what cycles submit, for `GET /metrics`. Messages of test keys are not counted."""

from collections import Counter
from collections.abc import Iterable, Sequence

from shared.lifecycle import LANES
from shared.message_counts import MessageCounts, count_messages
from shared.metrics import CARRIER_RESPONSE_SECONDS, CARRIER_RESPONSES, CARRIER_SEGMENTS, SUBMIT_DELAY
from shared.sms.countries import PREFIX
from worker.carriers.base import Outcome
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.windows import Window

DELAYS = [SUBMIT_DELAY.labels(str(category)) for category in LANES]
"""By lane."""


def count_window(
    carrier: str, window: Window, outcomes: Sequence[Outcome], segments: int, since_claim: float, seconds: float
) -> None:
    """Count a window whose responses are in: `since_claim` seconds after the claim, `seconds` after the submit."""
    CARRIER_SEGMENTS.labels(carrier).inc(segments)
    CARRIER_RESPONSE_SECONDS.labels(carrier).observe(seconds)
    for response, messages in Counter(outcome[0] for outcome in outcomes).items():
        CARRIER_RESPONSES.labels(carrier, str(response)).inc(messages)
    for batch, _ in window:
        if batch.waited is not None:
            DELAYS[batch.lane].observe(max(0.0, batch.waited + since_claim - seconds))
            batch.waited = None


def count_results(carrier: str, batches: Iterable[ClaimedBatch]) -> None:
    """Count the results of a cycle that is settled."""
    counts: MessageCounts = Counter(
        (result.status, batch.lane, phone[:PREFIX])
        for batch in batches
        if not (batch.test or batch.lost)
        for phone, result in zip(batch.phones, batch.results, strict=True)
        if result is not None
    )
    count_messages(carrier, counts)
