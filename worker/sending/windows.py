"""The windows of a cycle: messages that are submitted together, their results, and what `GET /metrics` counts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from shared.ids import MessageIds
from shared.lifecycle import LANES
from shared.observability.metrics import CARRIER_RESPONSE_SECONDS, CARRIER_RESPONSES, CARRIER_SEGMENTS, SUBMIT_DELAY
from shared.sends.counters import MessageCounts, count_messages
from shared.sms.countries import PREFIX_DIGITS
from worker.carriers.base import STATUS_OF, MessageGroup, Outcome, ResponseKind, status_of
from worker.sending.claimed_batch import MAX_ATTEMPTS, ClaimedBatch, FailedAttempt, Result

DELAYS = [SUBMIT_DELAY.labels(str(category)) for category in LANES]
"""By lane."""

MAX_POSTPONED = 0.1
"""Part of a window."""

Window = list[tuple[ClaimedBatch, list[int]]]
"""Positions to submit together, by batch."""


def next_window(batches: list[ClaimedBatch], size: int) -> Window:
    """Take up to `size` messages that may leave now."""
    window: Window = []
    for batch in batches:
        if size > 0 and not batch.lost and not batch.halted and (positions := batch.take(size)):
            window.append((batch, positions))
            size -= len(positions)
    return window


def unfinished(batches: list[ClaimedBatch], size: int) -> bool:
    """Whether this cycle is to submit another window, of up to `size` messages.

    Until the cycle is settled, postponed messages may be below the watermark, and take room in the window. So it ends
    once they take more than a small part of it.
    """
    postponed = sum(len(batch.postponed) for batch in batches)
    return postponed <= MAX_POSTPONED * size and any(batch.unfinished for batch in batches)


def message_groups(window: Window) -> list[MessageGroup]:
    """The window in the form that drivers take."""
    result = []
    for batch, positions in window:
        if batch.placeholder_texts is None:
            result.append(_message_group(batch, batch.message, batch.encoding, positions))
        else:
            result += [
                _message_group(batch, *batch.placeholder_texts.text(position), [position]) for position in positions
            ]
    return result


def _message_group(batch: ClaimedBatch, text: str, encoding: str, positions: list[int]) -> MessageGroup:
    return MessageGroup(
        sender_id=batch.sender_id,
        text=text,
        encoding=encoding,
        segments=batch.segments,
        expires_at=batch.expires_at,
        ids=MessageIds(batch.batch_id, [batch.indexes[position] for position in positions]),
        phones=[batch.phones[position] for position in positions],
        part=batch.part,
        tlvs={int(tag): bytes.fromhex(value) for tag, value in (batch.tlvs or {}).items()},
    )


def apply_outcomes(
    window: Window, outcomes: list[Outcome], response_time: float = 0.0, *, several: bool = False
) -> bool:
    """Store each message's result. Returns whether any was throttled: it is submitted once more in this cycle.

    Those that the carrier refused for their own sake are postponed; those that lack a route, only with `several`
    carriers. The response came just now, `response_time` seconds after the submit; the clock may have been changed
    since the submit.
    """
    at, answer_ms = str(datetime.now(UTC) - timedelta(seconds=response_time)), round(response_time * 1000)
    throttled = False
    left = iter(outcomes)
    for batch, positions in window:
        batch.answer_ms[at] = answer_ms
        attempts = batch.attempts + 1
        for position in positions:
            outcome = next(left)
            kind, reference, error, _ = outcome
            if kind is ResponseKind.THROTTLED:
                batch.again.append(position)
                throttled = True
            elif kind is ResponseKind.POSTPONED or (
                kind is ResponseKind.FAILED and attempts < MAX_ATTEMPTS and (several or not outcome.lacks_route)
            ):
                batch.postponed.append(position)
                batch.failed.append(FailedAttempt(batch.indexes[position], at, error))
            else:
                status = STATUS_OF[kind] if error is None else status_of(kind, error)
                batch.put(position, Result(status, reference, error, at, attempts))
    return throttled


def count_window(
    carrier: str, window: Window, outcomes: Sequence[Outcome], segments: int, since_claim: float, seconds: float
) -> None:
    """Count a window whose responses are in: `since_claim` seconds after the claim, `seconds` after the submit.

    Messages that were not submitted, and those of test keys, are not counted.
    """
    responses = Counter(outcome[0] for outcome in outcomes)
    if responses[ResponseKind.THROTTLED]:
        unsubmitted = _unsubmitted_segments(window, outcomes)
        responses[ResponseKind.THROTTLED] -= len(unsubmitted)
        segments -= sum(unsubmitted)
    responses = +responses
    CARRIER_SEGMENTS.labels(carrier).inc(segments)
    if responses:
        CARRIER_RESPONSE_SECONDS.labels(carrier).observe(seconds)
    for kind, messages in responses.items():
        CARRIER_RESPONSES.labels(carrier, str(kind)).inc(messages)
    for batch, _ in window:
        if batch.queue_delay is not None:
            DELAYS[batch.lane].observe(max(0.0, batch.queue_delay + since_claim - seconds))
            batch.queue_delay = None


def _unsubmitted_segments(window: Window, outcomes: Sequence[Outcome]) -> list[int]:
    """The segments of each message that was not submitted."""
    segments = (batch.segments for batch, positions in window for _ in positions)
    return [size for size, outcome in zip(segments, outcomes, strict=True) if outcome.is_unsubmitted]


def count_results(carrier: str, batches: Iterable[ClaimedBatch]) -> None:
    """Count the results of a cycle that is settled, but for those of test keys."""
    counts: MessageCounts = Counter(
        (result.status, batch.lane, phone[:PREFIX_DIGITS])
        for batch in batches
        if not (batch.test or batch.lost)
        for phone, result in zip(batch.phones, batch.results, strict=True)
        if result is not None
    )
    count_messages(carrier, counts)
