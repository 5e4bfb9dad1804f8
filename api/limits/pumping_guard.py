"""The guard against SMS pumping: one-time passwords requested for numbers whose owner earns a share of the fees.

It checks sends of the category `authentication` of accounts that have it enabled (`bulksms limit set`), and reports the
rule that applied with its numbers:

block   many phones in one block of 1,000 numbers: consecutive numbers, or numbers of one owner
burst   many more phones in an area (all but the last six digits) than in the hour before
unused  hardly any of the verifications in an area in the last hour had their code entered

Each API process counts for itself, in memory: traffic spread evenly over N processes gets through N times the limit.
The windows are fixed, so up to twice the limit gets through around the boundary of two windows. `burst` is not applied
in an account's first hour, when there is nothing to compare with.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

WINDOW = 600.0
"""Seconds."""
WINDOWS_BEFORE = 6
BLOCK_DIGITS = 3
AREA_DIGITS = 6
MIN_PER_BLOCK = 10
"""Up to this many phones in a block are never unusual."""
BLOCK_SHARE = 0.02
"""Up to this share of the phones of the block's area is never unusual either."""
MIN_PER_BURST = 100
TIMES_AS_MANY = 10
APPROVAL_WINDOW = timedelta(hours=1)
MIN_VERIFICATIONS = 20
"""With fewer in an area, nothing follows from how many codes were entered."""
USUAL_UNUSED = 0.9
"""Up to this share of codes that are not entered is never unusual."""
APPROVALS_SECONDS = 60.0
MAX_AREAS = 20_000
MAX_PHONES = 200_000
"""Phones stored per area and window; further ones are not counted."""


class PumpingFinding(NamedTuple):
    """Unusual traffic: the rule, the prefix, the number of phones, and the limit that it exceeds."""

    rule: str
    prefix: str
    phones: int
    limit: int
    first: bool
    """Whether this is the window's first finding for the prefix."""


@dataclass(slots=True)
class Area:
    """The phones of one account in one area, in the window that began at `began`."""

    began: float
    learnt_at: float
    """When an hour of traffic is available to compare with; monotonic seconds, as `began`."""
    phones: set[str] = field(default_factory=set)
    blocks: Counter[str] = field(default_factory=Counter)
    before: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOWS_BEFORE))
    found: set[str] = field(default_factory=set)

    def roll(self, now: float) -> None:
        """Start a new window if the current one has ended."""
        ended = int((now - self.began) / WINDOW)
        if ended:
            self.before.extend([len(self.phones), *[0] * (min(ended, WINDOWS_BEFORE + 1) - 1)])
            self.began += ended * WINDOW
            self.phones, self.blocks, self.found = set(), Counter(), set()


class PumpingGuard:
    """Counts the phones that accounts send one-time passwords to, in one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._areas: dict[tuple[int, str], Area] = {}
        self._first_seen: dict[int, float] = {}
        self._approvals: dict[int, tuple[float, Mapping[str, tuple[int, int]]]] = {}
        """By account: when they were learned, and the ended and the approved verifications by prefix."""

    def wants_approvals(self, account_id: int) -> bool:
        """Whether the account's approvals were last learned more than a minute ago."""
        learned = self._approvals.get(account_id)
        return learned is None or time.monotonic() - learned[0] > APPROVALS_SECONDS

    def learn_approvals(self, account_id: int, approvals: Mapping[str, tuple[int, int]]) -> None:
        """Learn how many verifications of the last hour have ended, and how many of these were approved, by prefix."""
        self._approvals[account_id] = time.monotonic(), approvals

    def record(self, account_id: int, phone: str) -> PumpingFinding | None:
        """Count a phone. Returns the finding if its traffic is unusual, otherwise None."""
        now = time.monotonic()
        block, prefix = phone[:-BLOCK_DIGITS], phone[:-AREA_DIGITS]
        with self._lock:
            area = self._area(account_id, prefix, now)
            if phone not in area.phones and len(area.phones) < MAX_PHONES:
                area.phones.add(phone)
                area.blocks[block] += 1
            found = self._judge(area, block, prefix, now)
            return found or self._judge_approvals(area, account_id, prefix)

    def _area(self, account_id: int, prefix: str, now: float) -> Area:
        since = self._first_seen.setdefault(account_id, now)
        area = self._areas.get((account_id, prefix))
        if area is None:
            if len(self._areas) >= MAX_AREAS:
                self._areas.pop(next(iter(self._areas)))
            area = self._areas[account_id, prefix] = Area(now, since + WINDOWS_BEFORE * WINDOW)
        area.roll(now)
        return area

    def _judge(self, area: Area, block: str, prefix: str, now: float) -> PumpingFinding | None:
        phones, of_block = len(area.phones), area.blocks[block]
        limit = max(MIN_PER_BLOCK, int(BLOCK_SHARE * phones))
        if of_block > limit:
            return self._finding(area, "block", block, of_block, limit)
        limit = max(MIN_PER_BURST, TIMES_AS_MANY * sum(area.before) // WINDOWS_BEFORE)
        if phones > limit and now >= area.learnt_at:
            return self._finding(area, "burst", prefix, phones, limit)
        return None

    def _judge_approvals(self, area: Area, account_id: int, prefix: str) -> PumpingFinding | None:
        learned = self._approvals.get(account_id)
        ended, approved = (0, 0) if learned is None else learned[1].get(prefix, (0, 0))
        limit = int(USUAL_UNUSED * ended)
        if ended >= MIN_VERIFICATIONS and ended - approved > limit:
            return self._finding(area, "unused", prefix, ended - approved, limit)
        return None

    @staticmethod
    def _finding(area: Area, rule: str, prefix: str, phones: int, limit: int) -> PumpingFinding:
        first = prefix not in area.found
        area.found.add(prefix)
        return PumpingFinding(rule, prefix, phones, limit, first)
