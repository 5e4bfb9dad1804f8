"""The part of one batch that a turn may submit, and what became of it.

A message is known here by its place in the intent, from 0. Nothing below asks the database or a clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from shared.lifecycle import MessageStatus
from shared.sends.rules import Rules
from worker.sending.placeholders import PlaceholderTexts

IN_DOUBT = MessageStatus.IN_DOUBT
MAX_ATTEMPTS = 3
"""Submits of one message: that a carrier may fail, or leave without an answer where those are submitted again."""


class Result(NamedTuple):
    """What became of one message in this turn; `at` is when it was submitted, as Postgres reads a time."""

    status: MessageStatus
    reference: str | None
    error: str | None
    at: str
    attempts: int


class FailedAttempt(NamedTuple):
    """A submit that the carrier did not take this time; the message goes again."""

    message: int
    """Its index in the batch."""
    at: str
    error: str | None


def messages_left(size: int, next_index: int, retry: Sequence[int]) -> int:
    """Messages of a batch that have no result: those that no turn has had, and those that go again."""
    return size - next_index + 1 + len(retry)


@dataclass(slots=True)
class ClaimedBatch:
    """One batch's intent."""

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
    """First index that no turn has had, before this one."""
    retry: list[int]
    """Indexes that certainly never left, before this turn; when there are any, this turn is from them."""
    attempts: int
    indexes: list[int]
    """Index in the batch of each place, in order of submission."""
    phones: list[str]
    """Phone of each place."""
    watermark: int
    """Places below it may have left."""
    route: str | None = None
    """Why it goes through that carrier; None where there is no other."""
    placeholder_texts: PlaceholderTexts | None = None
    """The texts of the places, where they differ."""
    rules: Rules | None = None
    """Those of its send."""
    wait: float = 0.0
    """Seconds until anything of it may be sent: it is quiet where its recipients are. Nothing of it was then taken."""
    results: list[Result | None] = field(init=False)
    """By place. A throttled message has none, it is still to be submitted."""
    known: int = 0
    """How many have a result."""
    rejected: int = 0
    """How many of them were never to be submitted: who has opted out."""
    unrecorded: list[int] = field(default_factory=list)
    """Places whose result is not in the database yet."""
    submitted: int = 0
    """Places below it were submitted, or rejected."""
    for_other_carriers: dict[int, int] = field(default_factory=dict)
    """Places that this turn's carrier failed and another may take later, and the attempts they had."""
    again: dict[int, int] = field(default_factory=dict)
    """Places to submit once more in this turn, and the attempts they had."""
    answer_ms: dict[str, int] = field(default_factory=dict)
    """Milliseconds until what was submitted at a time was answered, or given up."""
    failed: list[FailedAttempt] = field(default_factory=list)
    """Attempts of this turn that are not in the database yet, of messages that go again."""
    rows_uncertain: bool = False
    """Whether rows that were written may be missing: `doubt_rows` was called."""
    halted: bool = False
    """Its send may not go on: paused, held, canceled or expired since the claim."""
    opted_out: bool = False
    """Opt-outs of its account came after the list was read: it is to be read again before the next window."""
    lost: bool = False
    """Another worker has this batch now: nothing more may leave, but what was learned is still evidence."""

    def __post_init__(self) -> None:
        self.results = [None] * len(self.indexes)

    @property
    def left(self) -> int:
        """Messages of the batch that had no result before this turn."""
        return messages_left(self.size, self.next_index, self.retry)

    @property
    def unfinished(self) -> bool:
        """Whether messages without a result may still be submitted in this turn."""
        return self.known < len(self.indexes) and not (self.lost or self.halted)

    def take(self, size: int) -> list[int]:
        """Up to `size` places that may leave now: first those to go again, then the next ones below the watermark."""
        positions = list(self.again)[:size]
        end = min(self.watermark, self.submitted + size - len(positions))
        fresh: Sequence[int] = range(self.submitted, end)
        if self.rejected:
            fresh = [position for position in fresh if self.results[position] is None]
        self.submitted = max(self.submitted, end)
        return [*positions, *fresh]

    def put(self, position: int, result: Result) -> None:
        """Keep a message's result, to be recorded."""
        self.known += self.results[position] is None
        self.results[position] = result
        self.unrecorded.append(position)

    def result(self, position: int) -> Result:
        """The result of a message that has one."""
        result = self.results[position]
        assert result is not None
        return result

    def open_positions(self) -> list[int]:
        """Places of the messages that may still leave in this turn."""
        if not self.known and not self.for_other_carriers:
            return list(range(len(self.indexes)))
        return [
            position
            for position, result in enumerate(self.results)
            if result is None and position not in self.for_other_carriers
        ]

    def reject(self, position: int, error: str, at: str) -> None:
        """Give a message that was not submitted its end."""
        self.again.pop(position, None)
        self.put(position, Result(MessageStatus.REJECTED, None, error, at, 0))
        self.rejected += 1

    def watermark_ahead(self, ahead: int) -> tuple[int, int]:
        """The watermark at which up to `ahead` messages may be on their way, and how many of them that leaves over.

        Every place below `submitted` has a result, goes again or is put aside; beyond it only who was rejected has one.
        """
        ahead = max(0, ahead - len(self.again) - len(self.for_other_carriers))
        waiting: Sequence[int] = range(self.submitted, len(self.indexes))
        if self.rejected:
            waiting = [position for position in waiting if self.results[position] is None]
        fresh = min(len(waiting), ahead)
        watermark = waiting[fresh - 1] + 1 if fresh else self.submitted
        if fresh == len(waiting):
            watermark = len(self.indexes)
        return max(self.watermark, watermark), ahead - fresh

    def unsent(self) -> list[int]:
        """Indexes of the messages without a result, in order: they certainly never left."""
        if self.known == len(self.indexes):
            return []
        return [index for index, result in zip(self.indexes, self.results, strict=True) if result is None]

    def doubt_rows(self) -> None:
        """The database was away, or has crashed since: what was recorded may be gone, so it is looked for again.

        A crash undoes commits that did not wait for the disk, and one that ended without an answer may have happened.
        What this turn has learned it still knows.
        """
        self.unrecorded = [position for position, result in enumerate(self.results) if result is not None]
        self.rows_uncertain = True

    def resend_doubts(self) -> int:
        """Let the messages without an answer go again, as far as they may. Returns how many."""
        doubtful = [position for position, result in enumerate(self.results) if result and result.status is IN_DOUBT]
        again = [position for position in doubtful if self.result(position).attempts < MAX_ATTEMPTS]
        for position in again:
            self.again[position] = self.result(position).attempts - self.attempts
            self.results[position] = None
        self.known -= len(again)
        self.unrecorded = [position for position in self.unrecorded if self.results[position] is not None]
        return len(again)

    def answer_times(self, ats: Sequence[str]) -> list[int]:
        """How long the answers took to what was submitted then: as a rule to all at the same time."""
        if ats.count(ats[0]) == len(ats):
            return [self.answer_ms.get(ats[0], 0)] * len(ats)
        return [self.answer_ms.get(at, 0) for at in ats]

    def forget(self) -> None:
        """Drop every result: it is recorded, or was offered as evidence."""
        self.results = [None] * len(self.indexes)
        self.unrecorded.clear()


def segments_of(batches: Iterable[ClaimedBatch]) -> int:
    """Segments of all messages that a turn may submit."""
    return sum(len(batch.indexes) * batch.segments for batch in batches)


def all_that_waits(batches: list[ClaimedBatch], budget: int) -> bool:
    """Whether a turn of so many segments at most is all that could be sent: it is not full, and each batch is in it."""
    return segments_of(batches) < budget and all(len(batch.indexes) == batch.left for batch in batches)
