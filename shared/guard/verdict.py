"""What follows from what is known about an incarnation of the database: it is confirmed, held, or to be waited for."""

from typing import Literal, NamedTuple

SETTLE_SECONDS = 2.0
"""From another timeline nothing is sent for so long: a process of which the database does not know may object."""
PATIENCE_SECONDS = 20.0
"""For how long witnesses are waited for: a connection that the old server left dead is given up within 15 s."""
STALE = 10
"""A note so far behind the database is of long ago, and says nothing about what came after it."""


class Evidence(NamedTuple):
    """What the database says of itself, and what is known outside of it."""

    mark: int
    first: bool
    """It was never looked at."""
    copied: bool
    """Its row was written by something else than the service."""
    promoted: bool
    """It is on another timeline than at the last confirmation."""
    synchronous: bool
    """Commits were waited for until a standby had them."""
    file_noted: bool
    """Its mark was noted in a file."""
    witnessed: bool
    """A witness that knew its mark has already looked at this incarnation."""
    waited: float
    """Seconds since the first look at this incarnation."""
    missing: int
    """Workers that were alive, by the last that the database knows, and have not looked at this incarnation."""
    known: int
    """The highest mark that is known to who looks, 0 if none is."""
    lost: int
    """Commits that who looks has seen, and the database does not have."""

    @property
    def is_witnessed(self) -> bool:
        """Whether somebody who knows its mark finds that it lost nothing."""
        return self.witnessed or 0 < self.known >= self.mark - STALE


class Verdict(NamedTuple):
    """What to do, and why."""

    outcome: Literal["confirm", "wait", "hold"]
    reason: str = ""


CONFIRMED = Verdict("confirm")


def judge(found: Evidence) -> Verdict:
    """The verdict. Wrong only towards holding: nobody can take back a message that was sent twice."""
    if found.copied:
        return Verdict("hold", "this database was restored from a dump, or copied")
    if found.known > found.mark:
        return Verdict("hold", f"the database is about {found.known - found.mark:,} s older than it once was")
    if found.lost:
        return Verdict(
            "hold",
            "the database lacks commits that a running process has seen: a backup was restored, or a standby was"
            " promoted that had not received them",
        )
    if found.first:
        return CONFIRMED
    if found.promoted:
        return _after_promotion(found)
    if found.file_noted and not found.is_witnessed:
        return _patiently(
            found,
            "this database was restored or copied: the notes of how far it had come, in the file that GUARD_FILE names,"
            " are missing or from long before",
        )
    return CONFIRMED


def _after_promotion(found: Evidence) -> Verdict:
    """A standby that was promoted, or a backup that was recovered. Of a standby that every commit waits for nothing is
    missing; of another one only who had been sending can tell."""
    if not found.is_witnessed:
        return _patiently(
            found,
            "this database was restored, or a standby was promoted, and nothing outside of it tells how far it had"
            " come",
        )
    if found.missing:
        if not found.synchronous:
            return _patiently(
                found,
                "a standby was promoted, and processes that had been sending did not come back to tell whether it"
                f" lacks commits ({found.missing})",
            )
        if found.waited < PATIENCE_SECONDS:
            return Verdict("wait")
    return Verdict("wait") if found.waited < SETTLE_SECONDS else CONFIRMED


def _patiently(found: Evidence, reason: str) -> Verdict:
    return Verdict("wait" if found.waited < PATIENCE_SECONDS else "hold", reason)
