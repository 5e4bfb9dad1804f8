"""When a post is tried again, and when a webhook is left alone: nothing here asks the database, the network or a clock.

An event is tried ten times in 75 hours. A webhook of which nothing succeeds rests, at first for seconds and then for
ten minutes, and is tried with one event then; the events behind it wait where they are. One that fails for five days,
or answers 410, is disabled.
"""

import random
from dataclasses import dataclass
from uuid import UUID

from worker.webhooks.client import Reply

MINUTE, HOUR = 60.0, 3600.0
DELAYS = (5.0, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""Seconds after the first attempt, the second, and so on: ten attempts in 75.6 hours."""
JITTER = 0.1
"""A delay is longer by up to this part of it."""
FIRST_REST, LONGEST_REST = 5.0, 600.0
DEAD_AFTER = 3
"""Failures in a row after which nothing more is posted to an address for now."""
POSTPONED = 300.0
"""Seconds until an event is tried that was not, because others to the same address had failed."""
GIVEN_UP_AFTER = 76 * HOUR
"""Seconds after an event until one that was only postponed is given up, too."""
GONE = 410
FIRST_WIDTH, MAX_WIDTH = 4, 32
"""Posts to one webhook at a time: twice as many after each page without a failure."""


@dataclass(slots=True)
class Job:
    """One event to be posted: `body` is signed and posted as it is. `attempts` are those before."""

    event_id: UUID
    type: str
    url: str
    body: bytes
    attempts: int
    age: float
    """Seconds since the event."""
    reply: Reply | None = None
    """None while it was not posted."""
    skipped: str | None = None
    """Why it is not posted this time."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is written of a post: a row of `delivery`; `wait` are the seconds to the next attempt."""

    state: str
    attempts: int
    wait: float | None


def verdict(job: Job) -> Verdict:
    """What became of a job."""
    if job.reply is None:
        if job.age > GIVEN_UP_AFTER:
            return Verdict("failed", job.attempts, None)
        return Verdict("pending", job.attempts, with_jitter(POSTPONED))
    attempts = job.attempts + 1
    if job.reply.error is None:
        return Verdict("delivered", attempts, None)
    if attempts > len(DELAYS) or job.reply.http_status == GONE:
        return Verdict("failed", attempts, None)
    return Verdict("pending", attempts, max(job.reply.retry_after, with_jitter(DELAYS[attempts - 1])))


def rest(failures: int, jobs: list[Job]) -> float:
    """Seconds for which a webhook is left alone after `failures` pages in a row without a success."""
    asked = max((job.reply.retry_after for job in jobs if job.reply), default=0.0)
    return max(asked, with_jitter(min(LONGEST_REST, FIRST_REST * 2.0 ** min(failures - 1, 20))))


def with_jitter(seconds: float) -> float:
    """The delay, longer by a random part of it."""
    return seconds * (1 + random.random() * JITTER)
