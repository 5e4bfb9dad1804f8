"""Decides about an incarnation of the database: it is confirmed, held, or witnesses are awaited."""

from typing import Literal, NamedTuple

SETTLE_SECONDS = 2.0
"""For how long nothing is sent from another timeline: a process that the database does not know of may object."""
PATIENCE_SECONDS = 20.0
"""For how long witnesses are awaited: a connection that the old server left dead is given up within 15 s."""
STALE = 10
"""A note so far behind the database is old, and says nothing about later commits."""


class Evidence(NamedTuple):
    """What the database says of itself, and what is known outside of it."""

    mark: int
    first: bool
    """It was never checked."""
    copied: bool
    """Its row was not written by the service."""
    promoted: bool
    """It is on another timeline than at the last confirmation."""
    synchronous: bool
    """Commits waited for a standby."""
    file_noted: bool
    """Its mark was noted in a file."""
    witnessed: bool
    """A witness that knew its mark has already checked this incarnation."""
    waited: float
    """Seconds since the first check of this incarnation."""
    missing: int
    """Workers and API processes that were alive according to the database, and have not checked this incarnation."""
    known: int
    """The highest mark that the checking process knows, or 0."""
    lost: int
    """Number of commits that the checking process has seen and the database lacks."""

    @property
    def is_witnessed(self) -> bool:
        """Whether a process that knows its mark finds nothing missing."""
        return self.witnessed or 0 < self.known >= self.mark - STALE


class Verdict(NamedTuple):
    """The decision and its reason."""

    outcome: Literal["confirm", "wait", "hold"]
    reason: str = ""


CONFIRMED = Verdict("confirm")


def judge(evidence: Evidence) -> Verdict:
    """Decide. In doubt the database is held: a message that was sent twice cannot be taken back."""
    if evidence.copied:
        return Verdict("hold", "this database was restored from a dump, or copied")
    if evidence.known > evidence.mark:
        return Verdict("hold", f"the database is about {evidence.known - evidence.mark:,} s older than it once was")
    if evidence.lost:
        return Verdict(
            "hold",
            "the database lacks commits that a process has seen: a backup was restored, or a standby was"
            " promoted that had not received them",
        )
    if evidence.first:
        return CONFIRMED
    if evidence.promoted:
        return _after_promotion(evidence)
    if evidence.file_noted and not evidence.is_witnessed:
        return _wait_then_hold(
            evidence,
            "this database was restored or copied: the notes of its progress, in the file that GUARD_FILE names, are"
            " missing or much older",
        )
    return CONFIRMED


def _after_promotion(evidence: Evidence) -> Verdict:
    """Decide about a promoted standby or a recovered backup. A synchronous standby lacks nothing; whether another one
    does, only the processes that were accepting and sending know.
    """
    if not evidence.is_witnessed:
        return _wait_then_hold(
            evidence,
            "this database was restored, or a standby was promoted, and nothing outside it tells whether it lacks"
            " commits",
        )
    if evidence.missing:
        if not evidence.synchronous:
            return _wait_then_hold(
                evidence,
                "a standby was promoted, and processes that had been accepting or sending messages did not return to"
                f" tell whether it lacks commits ({evidence.missing})",
            )
        if evidence.waited < PATIENCE_SECONDS:
            return Verdict("wait")
    return Verdict("wait") if evidence.waited < SETTLE_SECONDS else CONFIRMED


def _wait_then_hold(evidence: Evidence, reason: str) -> Verdict:
    return Verdict("wait" if evidence.waited < PATIENCE_SECONDS else "hold", reason)
