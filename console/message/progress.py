"""How far a send has come: counts that add up, speed and time left."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from console.pages.formats import parsed

OVER = ("completed", "canceled")
NOT_ARRIVED = ("failed", "undelivered", "rejected", "expired")
WAITING = ("scheduled", "queued", "sending")
LEFT_OUT = ("duplicate", "invalid", "suppressed", "removed")
"""Counts of recipients who get no message."""
REJECTED = ("duplicate", "invalid", "suppressed")
"""Of these, the ones that the API lists with their reasons."""
REJECTED_OF_GROUP = ("duplicate", "invalid")
"""For a group, opt-outs are known only when the send starts, and are only counted."""
RECEIPT_SECONDS = 120.0
"""How long a completed send is watched for receipts."""


class Progress:
    """The counts of a send's recipients: `delivered`, `sent`, `in_doubt`, `failed`, `canceled` and `waiting` add up
    to `total`. Of those that are `left_out`, the API lists the `rejected` ones with their reasons."""

    def __init__(self, send: Mapping[str, Any]) -> None:
        counts = send["counts"]
        self.delivered = int(counts.get("delivered", 0))
        self.sent = int(counts.get("sent", 0))
        self.in_doubt = int(counts.get("in_doubt", 0))
        self.failed = sum(int(counts.get(name, 0)) for name in NOT_ARRIVED)
        self.canceled = int(counts.get("canceled", 0))
        self.waiting = sum(int(counts.get(name, 0)) for name in WAITING)
        self.total = self.delivered + self.sent + self.in_doubt + self.failed + self.canceled + self.waiting
        self.done = self.total - self.waiting
        known = REJECTED_OF_GROUP if send["kind"] == "group" else REJECTED
        self.rejected = sum(int(counts.get(name, 0)) for name in known)
        self.left_out = sum(int(counts.get(name, 0)) for name in LEFT_OUT)
        self._send = send

    @property
    def parts(self) -> list[tuple[str, int]]:
        """The parts of a bar."""
        names = ("delivered", "sent", "failed", "in_doubt", "canceled")
        return [(name, int(getattr(self, name))) for name in names] + [("waiting", self.waiting)]

    @property
    def unsuccessful(self) -> int:
        """How many messages have a reason to be shown: they failed, or are in doubt."""
        return self.failed + self.in_doubt

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to submit."""
        return self._send["status"] in OVER

    @property
    def speed(self) -> float | None:
        """Messages per second since it began; None before it begins."""
        begun = parsed(self._send["send_at"]) or parsed(self._send["created_at"])
        ended = parsed(self._send["completed_at"]) or datetime.now(UTC)
        seconds = (ended - begun).total_seconds() if begun else 0
        submitted = self.delivered + self.sent + self.in_doubt + int(self._send["counts"].get("undelivered", 0))
        return submitted / seconds if submitted and seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until its last message is submitted."""
        eta = parsed(self._send["eta"])
        return max(0.0, (eta - datetime.now(UTC)).total_seconds()) if eta else None

    @property
    def refresh(self) -> int:
        """Seconds until a page about it should poll again; 0 if nothing will change soon.

        The longer it takes, the less often: a send that takes an hour is not polled every few seconds.
        """
        if self.is_over:
            ended = parsed(self._send["completed_at"])
            recent = ended is not None and (datetime.now(UTC) - ended).total_seconds() < RECEIPT_SECONDS
            return 3 if recent and self.sent else 0
        if self._send["status"] in ("paused", "held", "scheduled"):
            return 10
        return min(10, max(3, round((self.seconds_left or 0) / 60)))
