"""The messages of one batch that a cycle may submit (its intent), and their results.

A message is identified by its position in the intent, from 0. Nothing here uses the database or a clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from shared.lifecycle import MessageStatus
from shared.sends.rules import Rules
from worker.carriers.base import PARTLY_SENT
from worker.sending.placeholders import PlaceholderTexts

IN_DOUBT = MessageStatus.IN_DOUBT
MAX_ATTEMPTS = 3
"""How often a message is submitted if carriers fail it, or do not answer and its category is sent again."""


class Result(NamedTuple):
    """The result of one message in this cycle. `at` is the time of its submit, as a Postgres literal."""

    status: MessageStatus
    reference: str | None
    error: str | None
    at: str
    attempts: int


class FailedAttempt(NamedTuple):
    """A submit that the carrier refused for now; the message is sent again."""

    message: int
    """Its index in the batch."""
    at: str
    error: str | None


def messages_left(size: int, next_index: int, retry_indexes: Sequence[int]) -> int:
    """Messages of a batch without a result: those never claimed, and those to send again."""
    return size - next_index + 1 + len(retry_indexes)


@dataclass(slots=True)
class ClaimedBatch:
    """One batch's intent and its results."""

    batch_id: UUID
    send_id: UUID
    account_id: int
    epoch: int
    kind: str
    sender_id: str
    message: str
    encoding: str
    segments: int
    price: int
    test: bool
    lane: int
    expires_at: datetime
    size: int
    next_index: int
    """First index that was never claimed before this cycle."""
    retry_indexes: list[int]
    """Indexes below `next_index` to send first. If there are any, this intent is the first of them."""
    attempts: int
    """How often each message of the intent was submitted in earlier rounds."""
    recipients: str
    """The phones of the whole batch, one a line."""
    intent: int
    """Number of messages that the cycle may submit."""
    watermark: int
    """Messages at positions below it may have been submitted."""
    lease_until: str
    """End of the lease that the claim took, as Postgres writes it."""
    postponed_before: int = 0
    """How many at the end of `retry_indexes` earlier cycles of this round have postponed."""
    route: str | None = None
    """Why it goes to that carrier; None if there is only one."""
    on_unicode: str | None = None
    """What happens to a text with placeholders that a value makes Unicode."""
    variables: Any = None
    """The values for the placeholders of the whole batch, encrypted."""
    rules: Rules | None = None
    """The send's rules."""
    request_id: str | None = None
    """The request that made its send, if that is logged."""
    traceparent: str | None = None
    """The W3C traceparent of the request that made its send, if that is traced."""
    queue_delay: float | None = None
    """Seconds from when the batch was due until the claim, if this is its first cycle; None once it is counted."""
    part: Any = None
    """The RawPart that is passed on instead of the message; as stored, until it is decrypted."""
    tlvs: dict[str, str] | None = None
    """Regulators' parameters of a submit over SMPP: octets in hex, by tag."""
    indexes: list[int] = field(init=False)
    """Index in the batch of each position, in order of submission."""
    phones: list[str] = field(init=False)
    """Phone of each position."""
    placeholder_texts: PlaceholderTexts | None = None
    """The text of each position, if texts differ."""
    rate_delay: float | None = None
    """Seconds from the claim until the send's own rate allows the next one; None without such a rate."""
    quiet_seconds: float = 0.0
    """Seconds until its recipients' quiet hours end; 0 if it may be sent now."""
    results: list[Result | None] = field(init=False)
    """By position; None for a message that is still to be submitted, for instance as it was throttled."""
    known: int = 0
    """Number of messages with a result."""
    rejected: int = 0
    """Number of messages rejected without a submit, for instance to recipients who opted out."""
    unrecorded: list[int] = field(default_factory=list)
    """Positions whose result is not in the database yet."""
    next_position: int = 0
    """Messages at positions below it were submitted or rejected."""
    postponed: list[int] = field(default_factory=list)
    """Positions to try again in the next round (shared/sends/rest_of_batch.py). They were certainly not taken, or are
    submitted once more although they were in doubt."""
    again: list[int] = field(default_factory=list)
    """Throttled positions, to submit once more in this cycle."""
    answer_ms: dict[str, int | Literal["NULL"]] = field(default_factory=dict)
    """Milliseconds until the carrier responded or was given up, by time of submit; NULL if that is not known."""
    failed: list[FailedAttempt] = field(default_factory=list)
    """Failed attempts of this cycle that are not in the database yet."""
    rows_uncertain: bool = False
    """Whether rows that were written may be missing: see `mark_rows_uncertain`."""
    resent: int = 0
    """Number of messages that were in doubt and are submitted once more."""
    halted: bool = False
    """No further window may leave in this cycle: its send was stopped or has expired, it is in quiet hours, or the
    database was restarted."""
    opted_out: bool = False
    """Its account has opt-outs newer than the list that was read, which must be read again before the next window."""
    lost: bool = False
    """Another worker owns this batch now: nothing more may leave, but results are still evidence."""

    def __post_init__(self) -> None:
        recipients = self.recipients.split("\n")
        self.indexes = (
            self.retry_indexes[: self.intent]
            if self.retry_indexes
            else list(range(self.next_index, self.next_index + self.intent))
        )
        self.phones = [recipients[index - 1] for index in self.indexes]
        self.results = [None] * len(self.indexes)

    @property
    def left(self) -> int:
        """Messages of the batch without a result before this cycle."""
        return messages_left(self.size, self.next_index, self.retry_indexes)

    @property
    def unfinished(self) -> bool:
        """Whether this cycle may still submit some of its messages."""
        return self.known + len(self.postponed) < len(self.indexes) and not (self.lost or self.halted)

    def take(self, size: int) -> list[int]:
        """Up to `size` positions that may leave now: those to submit once more, then the next below the watermark."""
        positions, self.again = self.again[:size], self.again[size:]
        end = min(self.watermark, self.next_position + size - len(positions))
        fresh: Sequence[int] = range(self.next_position, end)
        if self.rejected:
            fresh = [position for position in fresh if self.results[position] is None]
        self.next_position = max(self.next_position, end)
        return [*positions, *fresh]

    def put(self, position: int, result: Result) -> None:
        """Store a message's result, to be recorded."""
        self.known += self.results[position] is None
        self.results[position] = result
        self.unrecorded.append(position)

    def result(self, position: int) -> Result:
        """The result at a position that has one."""
        result = self.results[position]
        assert result is not None
        return result

    def open_positions(self) -> list[int]:
        """Positions that may still leave in this cycle."""
        if not self.known and not self.postponed:
            return list(range(len(self.indexes)))
        postponed = set(self.postponed)
        return [
            position for position, result in enumerate(self.results) if result is None and position not in postponed
        ]

    def reject(self, position: int, error: str, at: str) -> None:
        """Reject a message without submitting it."""
        if position in self.again:
            self.again.remove(position)
        self.put(position, Result(MessageStatus.REJECTED, None, error, at, 0))
        self.rejected += 1

    def watermark_ahead(self, ahead: int) -> tuple[int, int]:
        """The watermark that allows `ahead` messages without a result to leave, and how many of those it leaves unused.

        Every position below `next_position` has a result, is submitted once more or is postponed; above it only
        rejected messages have a result.
        """
        ahead = max(0, ahead - len(self.again) - len(self.postponed))
        waiting: Sequence[int] = range(self.next_position, len(self.indexes))
        if self.rejected:
            waiting = [position for position in waiting if self.results[position] is None]
        fresh = min(len(waiting), ahead)
        watermark = waiting[fresh - 1] + 1 if fresh else self.next_position
        if fresh == len(waiting):
            watermark = len(self.indexes)
        return max(self.watermark, watermark), ahead - fresh

    def unsent(self) -> list[int]:
        """Indexes of the messages of this round without a result, in order. They were certainly not taken."""
        if self.known + len(self.postponed) == len(self.indexes):
            return []
        return [self.indexes[position] for position in self.open_positions()]

    def mark_rows_uncertain(self) -> None:
        """Mark all results as unrecorded, and look for their rows before writing them: the database was unavailable.

        A crash of it undoes asynchronous commits, and a commit without a response may have happened.
        """
        self.unrecorded = [position for position, result in enumerate(self.results) if result is not None]
        self.rows_uncertain = True

    def unanswered(self) -> list[int]:
        """Positions of the messages in doubt that may be submitted once more: the others were sent in part."""
        return [
            position
            for position, result in enumerate(self.results)
            if result and result.status is IN_DOUBT and result.error != PARTLY_SENT
        ]

    def resend_doubts(self) -> None:
        """Submit messages without an answer once more in the next round, up to MAX_ATTEMPTS."""
        again = [position for position in self.unanswered() if self.result(position).attempts < MAX_ATTEMPTS]
        for position in again:
            self.results[position] = None
        self.postponed += again
        self.known -= len(again)
        self.resent += len(again)
        self.unrecorded = [position for position in self.unrecorded if self.results[position] is not None]

    def response_times(self, ats: Sequence[str]) -> list[int | Literal["NULL"]]:
        """Milliseconds until the response for each time of submit. Usually all are the same."""
        if ats.count(ats[0]) == len(ats):
            return [self.answer_ms.get(ats[0], 0)] * len(ats)
        return [self.answer_ms.get(at, 0) for at in ats]

    def forget(self) -> None:
        """Drop every result, once recorded or offered as evidence."""
        self.results = [None] * len(self.indexes)
        self.unrecorded.clear()


def segments_of(batches: Iterable[ClaimedBatch]) -> int:
    """Segments of all claimed messages."""
    return sum(len(batch.indexes) * batch.segments for batch in batches)


def claimed_all(batches: list[ClaimedBatch], budget: int) -> bool:
    """Whether the batches are everything that could be claimed: they are whole, and below the budget."""
    return segments_of(batches) < budget and all(len(batch.indexes) == batch.left for batch in batches)
