"""The guard against pumping: somebody has one-time passwords sent to numbers whose owner shares the carrier's income.

It looks at sends of the category `authentication`, of accounts that have it on (`bulksms limit set`), and gives its
reason with its numbers:

block   many phones in one block of 1,000 numbers: they are counted up, or belong to one owner
burst   many more phones in an area (all but the last six digits) than in the hour before

Each API process counts for itself and forgets when it ends: of what comes to N processes evenly, N times as much goes
through. Windows begin one after the other, so at the edge of two of them twice as much does. `burst` is not applied in
the first hour, in which there is nothing to compare with.
"""

import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import NamedTuple

WINDOW = 600.0
"""Seconds."""
WINDOWS_BEFORE = 6
BLOCK_DIGITS = 3
AREA_DIGITS = 6
MIN_PER_BLOCK = 10
"""Phones of a block that are never unusual."""
BLOCK_SHARE = 0.02
"""Nor is this share of the phones of its area."""
MIN_PER_BURST = 100
TIMES_AS_MANY = 10
MAX_AREAS = 20_000
MAX_PHONES = 200_000
"""Remembered of an area in a window; more are counted as new ones."""


class Finding(NamedTuple):
    """What is unusual: by which rule, under which prefix, how many phones there were and how many are usual."""

    rule: str
    prefix: str
    phones: int
    limit: int
    first: bool
    """Whether this is the first time that it is found in the window."""


@dataclass(slots=True)
class Area:
    """The phones of one account in one area, in the window that began at a time."""

    began: float
    learnt_at: float
    """When there was an hour to compare with."""
    phones: set[str] = field(default_factory=set)
    blocks: Counter[str] = field(default_factory=Counter)
    before: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOWS_BEFORE))
    found: set[str] = field(default_factory=set)

    def roll(self, now: float) -> None:
        """Begin a new window where one is over."""
        over = int((now - self.began) / WINDOW)
        if over:
            self.before.extend([len(self.phones), *[0] * (min(over, WINDOWS_BEFORE + 1) - 1)])
            self.began += over * WINDOW
            self.phones, self.blocks, self.found = set(), Counter(), set()


class PumpingGuard:
    """Looks at the phones that accounts have one-time passwords sent to, in one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._areas: dict[tuple[int, str], Area] = {}
        self._first_seen: dict[int, float] = {}

    def record(self, account_id: int, phone: str) -> Finding | None:
        """Count a phone, and say what is unusual about it."""
        now = time.monotonic()
        block, prefix = phone[:-BLOCK_DIGITS], phone[:-AREA_DIGITS]
        with self._lock:
            area = self._area(account_id, prefix, now)
            if phone not in area.phones and len(area.phones) < MAX_PHONES:
                area.phones.add(phone)
                area.blocks[block] += 1
            return self._judge(area, block, prefix, now)

    def _area(self, account_id: int, prefix: str, now: float) -> Area:
        since = self._first_seen.setdefault(account_id, now)
        area = self._areas.get((account_id, prefix))
        if area is None:
            if len(self._areas) >= MAX_AREAS:
                self._areas.pop(next(iter(self._areas)))
            area = self._areas[account_id, prefix] = Area(now, since + WINDOWS_BEFORE * WINDOW)
        area.roll(now)
        return area

    def _judge(self, area: Area, block: str, prefix: str, now: float) -> Finding | None:
        phones, of_block = len(area.phones), area.blocks[block]
        limit = max(MIN_PER_BLOCK, int(BLOCK_SHARE * phones))
        if of_block > limit:
            return self._finding(area, "block", block, of_block, limit)
        limit = max(MIN_PER_BURST, TIMES_AS_MANY * sum(area.before) // WINDOWS_BEFORE)
        if phones > limit and now >= area.learnt_at:
            return self._finding(area, "burst", prefix, phones, limit)
        return None

    @staticmethod
    def _finding(area: Area, rule: str, prefix: str, phones: int, limit: int) -> Finding:
        first = prefix not in area.found
        area.found.add(prefix)
        return Finding(rule, prefix, phones, limit, first)
