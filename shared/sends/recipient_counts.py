"""Counts the messages to a phone within an hour, by account and category, so that nobody is flooded.

Each process counts for itself, and those of all processes are added up in Redis
(shared/sends/shared_recipient_counts.py), of which nobody who counts asks anything. A phone takes room there only
when it has had a part of what it may get in one process,
so beyond its limit goes at most that part for each of the others. Without Redis each process counts for itself.

The hour is a sliding one, by two windows: of the window before as much counts as is less than an hour ago, as if it had
come evenly. At most `most` phones are remembered; beyond that those with the fewest messages are forgotten.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

HOUR = 3600.0
SHARED_PART, MIN_SHARED = 4, 3
"""What a process has counted is shared from a quarter of the limit on, and not below three messages."""
BATCH_SIZE = 1000
"""Phones of a list that are looked at while nobody else may: single sends do not wait for a whole list."""


class Subject(NamedTuple):
    """What is limited: the messages of one lane of an account to one phone."""

    account_id: int
    lane: int
    phone: str


@dataclass(slots=True)
class Counts:
    """Messages by phone, of one lane of an account."""

    own: Counter[str] = field(default_factory=Counter)
    """Of this process, in this window."""
    others: dict[str, int] = field(default_factory=dict)
    """Of other processes."""
    before: dict[str, int] = field(default_factory=dict)
    """Of all, in the window before."""
    shared: dict[str, int] = field(default_factory=dict)
    """Of its own, what Redis knows of."""
    highest: int = 0
    """No phone has more, of both windows together. It only grows, so whoever is below the limit with it is."""

    def fits(self, phone: str, limit: int, share: float) -> bool:
        """Whether another message is within the limit, when so much of the window before counts."""
        now = self.own.get(phone, 0) + self.others.get(phone, 0)
        return now + self.before.get(phone, 0) * share + 1 <= limit

    def wait(self, phone: str, limit: int, share: float) -> int:
        """Seconds until another message is within the limit, which it is not now."""
        now, before = self.own.get(phone, 0) + self.others.get(phone, 0), self.before.get(phone, 0)
        room = limit - 1 - now
        left = share - room / before if room >= 0 else share + 1 - (limit - 1) / now
        return max(1, ceil(left * HOUR))

    def next_window(self) -> "Counts":
        """These counts as those of the window before."""
        self.own.update(self.others)
        return Counts(before=self.own, highest=max(self.own.values(), default=0))


class RecipientCounts:
    """The counts of one process. Safe to use from several threads."""

    def __init__(self, most: int = 200_000, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._window = int(clock() / HOUR)
        self._counts: dict[tuple[int, int], Counts] = {}
        self._changed: set[Subject] = set()
        self._size = 0
        """Phones in this window, at most: none that is given back is taken off."""

    def take(self, account_id: int, lane: int, phone: str, limit: int) -> int:
        """Count a message, or return in how many seconds there is room for one: 0 when it was counted."""
        with self._lock:
            counts, share = self._of(account_id, lane)
            if not counts.fits(phone, limit, share):
                return counts.wait(phone, limit, share)
            own = counts.own[phone] = counts.own.get(phone, 0) + 1
            if own == 1:
                self._size += 1
                if self._size > self._most:
                    self._forget()
            elif own >= _least_shared(limit):
                self._changed.add(Subject(account_id, lane, phone))
            every = own + counts.others.get(phone, 0) + counts.before.get(phone, 0)
            if every > counts.highest:
                counts.highest = every
            return 0

    def over(self, account_id: int, lane: int, phones: Sequence[str], limit: int, *, unique: bool = False) -> set[int]:
        """The places of the phones that are over the limit, if all before them are sent to. Counts nothing.

        `unique` where no phone appears twice, as the caller knows.
        """
        most = 1 if unique else max(Counter(phones).values(), default=0)
        found: set[int] = set()
        more: Counter[str] = Counter()
        for start in range(0, len(phones), BATCH_SIZE):
            with self._lock:
                counts, share = self._of(account_id, lane)
                if counts.highest + most <= limit:
                    return found
                for place, phone in enumerate(phones[start : start + BATCH_SIZE], start):
                    if counts.fits(phone, limit - more.get(phone, 0), share):
                        more[phone] += most > 1
                    else:
                        found.add(place)
        return found

    def add(self, account_id: int, lane: int, phones: Sequence[str], limit: int) -> None:
        """Count messages that are sent whatever their number."""
        for start in range(0, len(phones), BATCH_SIZE):
            with self._lock:
                counts, _ = self._of(account_id, lane)
                self._add(account_id, lane, counts, phones[start : start + BATCH_SIZE], limit)

    def give_back(self, account_id: int, lane: int, phones: Iterable[str]) -> None:
        """Uncount messages that are not sent after all."""
        with self._lock:
            counts, _ = self._of(account_id, lane)
            for phone in phones:
                if counts.own.get(phone, 0):
                    counts.own[phone] -= 1
                    if phone in counts.shared:
                        self._changed.add(Subject(account_id, lane, phone))

    def changes(self) -> tuple[int, dict[Subject, int]]:
        """The window, and what was counted of each subject since this was asked last. Then they count as shared."""
        with self._lock:
            changes: dict[Subject, int] = {}
            for subject in self._changed:
                counts, _ = self._of(subject.account_id, subject.lane)
                own = counts.own.get(subject.phone, 0)
                if own != counts.shared.get(subject.phone, 0):
                    changes[subject] = own - counts.shared.get(subject.phone, 0)
                    counts.shared[subject.phone] = own
            self._changed.clear()
            return self._window, changes

    def learn(self, window: int, totals: dict[Subject, tuple[int, int]]) -> None:
        """Take over the totals of all processes, in that window and in the one before, as of the last `changes`."""
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

    def _of(self, account_id: int, lane: int) -> tuple[Counts, float]:
        """The counts of a lane, and what share of the window before counts."""
        now = self._clock() / HOUR
        window = int(now)
        if window != self._window:
            self._roll(window)
        counts = self._counts.get((account_id, lane))
        if counts is None:
            counts = self._counts[account_id, lane] = Counts()
        return counts, 1 - (now - window)

    def _roll(self, window: int) -> None:
        before = self._counts if window == self._window + 1 else {}
        self._counts = {key: counts.next_window() for key, counts in before.items() if counts.own}
        self._changed.clear()
        self._window, self._size = window, 0

    def _add(self, account_id: int, lane: int, counts: Counts, phones: Sequence[str], limit: int) -> None:
        size = len(counts.own)
        counts.own.update(phones)
        most = max(map(counts.own.__getitem__, phones))
        if most >= _least_shared(limit):
            shared = (phone for phone in phones if counts.own[phone] >= _least_shared(limit))
            self._changed.update(Subject(account_id, lane, phone) for phone in shared)
        counts.highest = max(counts.highest, most + self._beside(counts, phones))
        self._size += len(counts.own) - size
        if self._size > self._most:
            self._forget()

    @staticmethod
    def _beside(counts: Counts, phones: Sequence[str]) -> int:
        """What other processes, and the window before, have at most of one of the phones."""
        found = 0
        for besides in (counts.others, counts.before):
            if besides:
                found += max(besides.get(phone, 0) for phone in phones)
        return found

    def _forget(self) -> None:
        """Forget the phones with the fewest messages, until there is room for as many again as are left."""
        least = 0
        while self._size > self._most // 2:
            least += 1
            for counts in self._counts.values():
                counts.own = Counter({phone: count for phone, count in counts.own.items() if count > least})
            self._size = sum(len(counts.own) for counts in self._counts.values())


def _least_shared(limit: int) -> int:
    """Messages to a phone from which on they are shared."""
    return max(MIN_SHARED, limit // SHARED_PART)
