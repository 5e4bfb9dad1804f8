"""Counts messages to each phone within an hour, by account and category, so that nobody is flooded.

Each process counts for itself. `RecipientSharing` adds up the counts of all processes in Redis, in the background, but
only those of phones that have reached a part of their limit in one process. So a phone may exceed its limit by that
part for each other process. Without Redis, each process limits by its own counts.

The hour slides over two windows: of the previous window, the part within the last hour counts, as if its messages were
evenly spread. At most `capacity` phones are counted; beyond that, those with the fewest messages are dropped.
"""

import hashlib
import hmac
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

from redis import Redis

from shared.periodic import repeat

HOUR = 3600.0
SHARED_PART, MIN_SHARED = 4, 3
"""A count is shared from a quarter of the limit on, and from at least three messages."""
PHONES_PER_LOCK = 1000
"""Phones of a list that are counted under one lock, so that single sends do not wait for a whole list."""
SYNC_SECONDS = 0.25
LONG_MESSAGES = 10_000
"""Of so many long messages whose parts come one by one, the newest, it is known how many parts are to come."""
COUNTS_PER_CALL = 500
"""Counts per pipeline."""
KEY_SECONDS = 7300
"""A key lives through its window and the next one."""


class Subject(NamedTuple):
    """The subject of a limit: messages of one account and lane to one phone."""

    account_id: int
    lane: int
    phone: str


@dataclass(slots=True)
class PhoneCounts:
    """Messages of one account and lane, by phone."""

    own: Counter[str] = field(default_factory=Counter)
    """Counted by this process in this window."""
    others: dict[str, int] = field(default_factory=dict)
    """Counted by other processes in this window."""
    before: dict[str, int] = field(default_factory=dict)
    """Counted by all processes in the previous window."""
    shared: dict[str, int] = field(default_factory=dict)
    """The part of `own` that Redis has."""
    highest: int = 0
    """An upper bound of any phone's messages in both windows. It only grows."""

    def fits(self, phone: str, limit: int, share: float) -> bool:
        """Whether another message is within the limit, with this `share` of the previous window."""
        now = self.own.get(phone, 0) + self.others.get(phone, 0)
        return now + self.before.get(phone, 0) * share + 1 <= limit

    def wait(self, phone: str, limit: int, share: float) -> int:
        """Seconds until another message is within the limit."""
        now, before = self.own.get(phone, 0) + self.others.get(phone, 0), self.before.get(phone, 0)
        room = limit - 1 - now
        left = share - room / before if room >= 0 else share + 1 - (limit - 1) / now
        return max(1, ceil(left * HOUR))

    def next_window(self) -> "PhoneCounts":
        """New counts, with these as the previous window."""
        self.own.update(self.others)
        return PhoneCounts(before=self.own, highest=max(self.own.values(), default=0))


class RecipientCounts:
    """The counts of one process. Thread-safe."""

    def __init__(self, capacity: int = 200_000, clock: Callable[[], float] = time.time) -> None:
        self._capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._window = int(clock() / HOUR)
        self._counts: dict[tuple[int, int], PhoneCounts] = {}
        self._changed: set[Subject] = set()
        self._parts_left: dict[tuple[Subject, tuple[int, int]], int] = {}
        """By subject, reference and number of parts of a long message, of which a part is counted."""
        self._size = 0
        """An upper bound of the phones in this window: it does not decrease when messages are given back."""

    def take(
        self, account_id: int, lane: int, phone: str, limit: int, long_message: tuple[int, int] | None = None
    ) -> int:
        """Count a message and return 0, or return the seconds until it is within the limit.

        Of the parts of a `long_message`, with this reference and number of parts, the one that comes first is counted.
        """
        with self._lock:
            message = None if long_message is None else (Subject(account_id, lane, phone), long_message)
            if message is not None and self._parts_left.get(message):
                self._parts_left[message] -= 1
                return 0
            counts, share = self._of(account_id, lane)
            if not counts.fits(phone, limit, share):
                return counts.wait(phone, limit, share)
            if message is not None:
                self._begin(*message)
            own = counts.own[phone] = counts.own.get(phone, 0) + 1
            if own == 1:
                self._size += 1
                if self._size > self._capacity:
                    self._forget()
            elif own >= _least_shared(limit):
                self._changed.add(Subject(account_id, lane, phone))
            every = own + counts.others.get(phone, 0) + counts.before.get(phone, 0)
            if every > counts.highest:
                counts.highest = every
            return 0

    def over(self, account_id: int, lane: int, phones: Sequence[str], limit: int, *, unique: bool = False) -> set[int]:
        """The indexes of phones that would exceed the limit if all before them were sent to. Counts nothing.

        `unique` says that no phone appears twice.
        """
        repeats = 1 if unique else max(Counter(phones).values(), default=0)
        exceeding: set[int] = set()
        earlier: Counter[str] = Counter()
        for start in range(0, len(phones), PHONES_PER_LOCK):
            with self._lock:
                counts, share = self._of(account_id, lane)
                if counts.highest + repeats <= limit:
                    return exceeding
                for index, phone in enumerate(phones[start : start + PHONES_PER_LOCK], start):
                    if counts.fits(phone, limit - earlier.get(phone, 0), share):
                        earlier[phone] += repeats > 1
                    else:
                        exceeding.add(index)
        return exceeding

    def add(self, account_id: int, lane: int, phones: Sequence[str], limit: int) -> None:
        """Count messages, without a limit."""
        for start in range(0, len(phones), PHONES_PER_LOCK):
            with self._lock:
                counts, _ = self._of(account_id, lane)
                self._add(account_id, lane, counts, phones[start : start + PHONES_PER_LOCK], limit)

    def give_back(
        self, account_id: int, lane: int, phones: Iterable[str], long_message: tuple[int, int] | None = None
    ) -> None:
        """Uncount messages that are not sent; a `long_message` of which other parts are counted stays so."""
        with self._lock:
            counts, _ = self._of(account_id, lane)
            for phone in phones:
                if long_message is not None and self._give_back_part(Subject(account_id, lane, phone), long_message):
                    continue
                if counts.own.get(phone, 0):
                    counts.own[phone] -= 1
                    if phone in counts.shared:
                        self._changed.add(Subject(account_id, lane, phone))

    def changes(self) -> tuple[int, dict[Subject, int]]:
        """The window, and each subject's count since the last call. Marks the counts as shared."""
        with self._lock:
            changes: dict[Subject, int] = {}
            for subject in tuple(self._changed):  # which a new window clears
                counts, _ = self._of(subject.account_id, subject.lane)
                own = counts.own.get(subject.phone, 0)
                if own != counts.shared.get(subject.phone, 0):
                    changes[subject] = own - counts.shared.get(subject.phone, 0)
                    counts.shared[subject.phone] = own
            self._changed.clear()
            return self._window, changes

    def learn(self, window: int, totals: dict[Subject, tuple[int, int]]) -> None:
        """Store the totals of all processes in the window and in the previous one, as of the last `changes`."""
        with self._lock:
            for subject, (now, before) in totals.items():
                counts, _ = self._of(subject.account_id, subject.lane)
                if window != self._window:
                    return
                phone = subject.phone
                counts.others[phone] = max(0, now - counts.shared.get(phone, 0))
                counts.before[phone] = max(before, counts.before.get(phone, 0))
                every = counts.own.get(phone, 0) + counts.others[phone] + counts.before[phone]
                counts.highest = max(counts.highest, every)

    def _of(self, account_id: int, lane: int) -> tuple[PhoneCounts, float]:
        """The counts of an account and lane, and the share of the previous window that is within the hour."""
        now = self._clock() / HOUR
        window = int(now)
        if window > self._window:
            self._roll(window)
        counts = self._counts.get((account_id, lane))
        if counts is None:
            counts = self._counts[account_id, lane] = PhoneCounts()
        return counts, 1 - (now - window)

    def _roll(self, window: int) -> None:
        """Begin a later window. If the clock is set back, the last one goes on."""
        before = self._counts if window == self._window + 1 else {}
        self._counts = {key: counts.next_window() for key, counts in before.items() if counts.own}
        self._changed.clear()
        self._window, self._size = window, sum(len(counts.own) for counts in self._counts.values())

    def _begin(self, subject: Subject, long_message: tuple[int, int]) -> None:
        """Note that one part of the long message is counted."""
        self._parts_left.pop((subject, long_message), None)
        self._parts_left[subject, long_message] = long_message[1] - 1
        if len(self._parts_left) > LONG_MESSAGES:
            del self._parts_left[next(iter(self._parts_left))]

    def _give_back_part(self, subject: Subject, long_message: tuple[int, int]) -> bool:
        """Give a part of the long message back. Returns whether others are counted."""
        left = self._parts_left.pop((subject, long_message), long_message[1]) + 1
        if left < long_message[1]:
            self._parts_left[subject, long_message] = left
        return left < long_message[1]

    def _add(self, account_id: int, lane: int, counts: PhoneCounts, phones: Sequence[str], limit: int) -> None:
        size = len(counts.own)
        counts.own.update(phones)
        highest = max(map(counts.own.__getitem__, phones))
        if highest >= _least_shared(limit):
            shared = (phone for phone in phones if counts.own[phone] >= _least_shared(limit))
            self._changed.update(Subject(account_id, lane, phone) for phone in shared)
        counts.highest = max(counts.highest, highest + self._of_others(counts, phones))
        self._size += len(counts.own) - size
        if self._size > self._capacity:
            self._forget()

    @staticmethod
    def _of_others(counts: PhoneCounts, phones: Sequence[str]) -> int:
        """An upper bound of what other processes and the previous window have of any of the phones."""
        bound = 0
        for other in (counts.others, counts.before):
            if other:
                bound += max(other.get(phone, 0) for phone in phones)
        return bound

    def _forget(self) -> None:
        """Drop the phones with the fewest messages, until half of the capacity is free."""
        least = 0
        while self._size > self._capacity // 2:
            least += 1
            for counts in self._counts.values():
                counts.own = Counter({phone: count for phone, count in counts.own.items() if count > least})
            self._size = sum(len(counts.own) for counts in self._counts.values())


def _least_shared(limit: int) -> int:
    """The count of a phone from which it is shared."""
    return max(MIN_SHARED, limit // SHARED_PART)


class RecipientSharing:
    """Adds one process's counts to Redis, whose keys hold a keyed hash of the phone, and learns the sums."""

    def __init__(self, redis: "Redis", counts: RecipientCounts, secret_key: str) -> None:
        self._redis = redis
        self._counts = counts
        self._secret = hashlib.sha256(b"recipient-counts\0" + secret_key.encode()).digest()

    def start(self, stop: threading.Event | None = None) -> None:
        """Share every SYNC_SECONDS in a background thread, until `stop` is set."""
        outage = "Redis is unavailable; each process counts messages to a phone number on its own"
        repeat(self.share, SYNC_SECONDS, "recipients", stop, outage=outage)

    def share(self) -> None:
        """Add the new counts, and learn the totals. Raises RedisError; the new counts are then not added again."""
        window, changes = self._counts.changes()
        subjects = list(changes)
        for start in range(0, len(subjects), COUNTS_PER_CALL):
            batch = subjects[start : start + COUNTS_PER_CALL]
            pipeline = self._redis.pipeline(transaction=False)
            for subject in batch:
                pipeline.incrby(self._key(window, subject), changes[subject])
                pipeline.expire(self._key(window, subject), KEY_SECONDS)
                pipeline.get(self._key(window - 1, subject))
            replies: list[Any] = pipeline.execute()
            totals = {
                subject: (int(replies[3 * number]), int(replies[3 * number + 2] or 0))
                for number, subject in enumerate(batch)
            }
            self._counts.learn(window, totals)

    def _key(self, window: int, subject: Subject) -> str:
        digest = hmac.digest(self._secret, repr(tuple(subject)).encode(), "sha256")
        return f"bulksms:recipient:{window}:{digest[:16].hex()}"
