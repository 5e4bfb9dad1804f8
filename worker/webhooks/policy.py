"""The retry policy: when a post is retried, and when a webhook rests. Uses no database, network or clock.

An event is tried ten times in 75 hours. A webhook to which nothing succeeds rests, for seconds at first and later for
ten minutes, and is then tried with one retry and one new event while the others wait. A webhook that fails for five
days, or responds with 410, is disabled.
"""

import math
import random
from dataclasses import dataclass
from uuid import UUID

from worker.webhooks.client import Reply

MINUTE, HOUR = 60.0, 3600.0
DELAYS = (5.0, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""Seconds to wait after the first attempt, the second, and so on: ten attempts in 75.6 hours."""
JITTER = 0.1
"""The largest fraction of a delay that is added at random."""
FIRST_REST, MAX_REST = 5.0, 600.0
DEAD_AFTER = 3
"""Failures in a row after which the rest of a page is not posted to a URL."""
POSTPONED = 300.0
"""Seconds until a skipped event is tried: one not posted because others to the same URL had failed."""
GIVEN_UP_AFTER = 76 * HOUR
"""Age in seconds at which an event that has been tried is given up rather than postponed."""
GONE = 410
FIRST_WIDTH, MAX_WIDTH = 4, 32
"""Posts to one webhook at a time: twice as many after each page without a failure."""


@dataclass(slots=True)
class PostJob:
    """One event to post. `body` is signed and posted unchanged; `attempts` counts earlier attempts."""

    event_id: UUID
    type: str
    url: str
    body: bytes
    attempts: int
    age: float
    """Seconds since the event; infinite if it is no longer kept."""
    reply: Reply | None = None
    """None if it has not been posted."""
    skipped: str | None = None
    """Why it was not posted this time."""
    traceparent: str | None = None
    """The W3C traceparent of the request that made its send, if that is traced."""
    report_url: str | None = None
    """What is got instead of posting a body to `url`, whose escapes it has filled."""


@dataclass(frozen=True, slots=True)
class PostResult:
    """The result of a post, as stored in `delivery`; `wait` is the seconds until the next attempt."""

    state: str
    attempts: int
    wait: float | None


def result_of(job: PostJob) -> PostResult:
    """The result of a job."""
    if job.reply is None:
        if job.age == math.inf or (job.attempts and job.age > GIVEN_UP_AFTER):
            return PostResult("failed", job.attempts, None)
        return PostResult("pending", job.attempts, with_jitter(POSTPONED))
    attempts = job.attempts + 1
    if job.reply.error is None:
        return PostResult("delivered", attempts, None)
    if attempts > len(DELAYS) or job.reply.http_status == GONE:
        return PostResult("failed", attempts, None)
    return PostResult("pending", attempts, max(job.reply.retry_after, with_jitter(DELAYS[attempts - 1])))


def rest(failures: int, jobs: list[PostJob]) -> float:
    """Seconds that a webhook rests after `failures` pages in a row without a success."""
    requested = max((job.reply.retry_after for job in jobs if job.reply), default=0.0)
    return max(requested, with_jitter(min(MAX_REST, FIRST_REST * 2.0 ** min(failures - 1, 20))))


def with_jitter(seconds: float) -> float:
    """The delay plus random jitter."""
    return seconds * (1 + random.random() * JITTER)
