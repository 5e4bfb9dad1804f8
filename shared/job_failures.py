"""Jobs that fail: each is tried again later and later, and set aside in the end, so that it costs the others nothing.

A job is whatever a worker takes as "the one that has waited longest": an import, the expansion of a send, an erasure.
Its failure is an error that comes again for this job alone. An outage, such as a database that does not answer, is
nobody's failure: it is raised, and the job is tried again as if nothing had happened.

    FIRST_WAIT, twice as long after each failure ... MAX_FAILURES: set aside, until the operator tries it again

Where a job has a state that takes it out of the queue, `on_set_aside` of `attempt` moves it there, in the commit that
sets it aside. A job without such a state rests for ever by its row here.
"""

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, Engine, text

from shared.db.connection import is_outage, transaction
from shared.encryption import TextKeyMissing

__all__ = [
    "FAILURES",
    "RESTS",
    "SET_ASIDE",
    "Job",
    "JobKind",
    "attempt",
    "clear_failures",
    "failed",
    "together_or_singly",
]

log = logging.getLogger(__name__)

JobKind = Literal[
    "canary", "closing", "doubt", "erasure", "expansion", "import", "recovery", "retention", "usage", "webhook"
]

MAX_FAILURES: Final = 8
"""In a row, before a job is set aside: after some two minutes."""
FIRST_WAIT: Final = 1.0
"""Seconds after the first failure."""

OF_JOB = "FROM job_failure f WHERE f.kind = '{kind}' AND f.subject = CAST({subject} AS text)"
RESTS: Final = f"EXISTS (SELECT {OF_JOB} AND f.retry_at > clock_timestamp())"
"""SQL: whether the job of this `kind` with the id `subject` is not to be tried now."""
FAILURES: Final = f"(SELECT f.failures {OF_JOB})"
"""SQL: how often it has failed in a row; null: not at all."""
SET_ASIDE: Final = f"EXISTS (SELECT {OF_JOB} AND f.set_aside_at IS NOT NULL)"
"""SQL: whether it waits for the operator."""

ROOT = Path(__file__).parent.parent
PACKAGES = ("shared", "worker")

FAIL = text(
    """
    INSERT INTO job_failure AS f (kind, subject, account_id, failures, error, retry_at)
    VALUES (:kind, :subject, :account, 1, :error, clock_timestamp() + make_interval(secs => :wait))
    ON CONFLICT (kind, subject) DO UPDATE
       SET failures = f.failures + 1, error = EXCLUDED.error, failed_at = clock_timestamp(),
           retry_at = clock_timestamp() + make_interval(secs => :wait * 2 ^ LEAST(f.failures, :most))
    RETURNING failures
    """
)
MARK_SET_ASIDE = text(
    """
    UPDATE job_failure SET set_aside_at = coalesce(set_aside_at, clock_timestamp()),
                           retry_at = CASE WHEN :rests THEN CAST('infinity' AS timestamptz) ELSE clock_timestamp() END
     WHERE kind = :kind AND subject = :subject
    """
)
CLEAR = text("DELETE FROM job_failure WHERE kind = :kind AND subject = :subject")

OnSetAside = Callable[[Connection, str, str], None]
"""Takes the job with this id out of its queue; the last argument is the error, without anything of its data."""


@dataclass(slots=True)
class Job:
    """The job that is being tried."""

    kind: JobKind
    subject: str | None = None
    account_id: int | None = None
    failures: int = 0

    def begin(self, subject: object, account_id: int | None, failures: int | None) -> None:
        """It is this one. What fails before is an error of the queue, not of a job."""
        self.subject, self.account_id, self.failures = str(subject), account_id, failures or 0


@contextmanager
def attempt(
    engine: Engine,
    kind: JobKind,
    on_set_aside: OnSetAside | None = None,
    raises: tuple[type[Exception], ...] = (),
) -> Iterator[Job]:
    """Around the transaction in which the next job of its kind is taken and done.

    What fails after `Job.begin` is logged and kept as the job's failure, and not raised; but for outages, and errors
    of the kinds in `raises`, which somebody else deals with.
    """
    job = Job(kind)
    try:
        yield job
    except Exception as error:
        if job.subject is None or is_outage(error) or isinstance(error, (TextKeyMissing, *raises)):
            raise
        failed(engine, job, error, on_set_aside)
    else:
        if job.failures:
            with transaction(engine) as connection:
                clear_failures(connection, job.kind, job.subject)


def failed(engine: Engine, job: Job, error: Exception, on_set_aside: OnSetAside | None = None) -> bool:
    """Keep a job's failure. Returns whether the job is set aside now."""
    description = _describe(error)
    values = {"kind": job.kind, "subject": job.subject}
    with transaction(engine) as connection:
        more = {"account": job.account_id, "error": description, "wait": FIRST_WAIT, "most": MAX_FAILURES}
        failures = connection.execute(FAIL, {**values, **more}).scalar_one()
        if failures >= MAX_FAILURES:
            if on_set_aside is not None:
                on_set_aside(connection, str(job.subject), description)
            connection.execute(MARK_SET_ASIDE, {**values, "rests": on_set_aside is None})
    end = ", and is set aside" if failures >= MAX_FAILURES else ""
    log.error("the %s of %s failed, %d times now%s: %s", job.kind, job.subject, failures, end, stack_of(error))
    return bool(failures >= MAX_FAILURES)


def clear_failures(connection: Connection, kind: JobKind, subject: object) -> bool:
    """Forget that the job failed. False when it had not."""
    return bool(connection.execute(CLEAR, {"kind": kind, "subject": str(subject)}).rowcount)


def together_or_singly(engine: Engine, kind: JobKind, work: Callable[[Job, int], int], most: int) -> int:
    """Do up to `most` jobs in one transaction; if that fails, one by one, so that only those fail that must.

    `work` does as many of the oldest as it is told, begins each of them on the job, and returns how many it did.
    """
    try:
        return work(Job(kind), most)
    except Exception as error:
        if is_outage(error) or isinstance(error, TextKeyMissing):
            raise
        log.warning("%s failed for several together, and is done one by one: %s", kind, _describe(error))
    done = 0
    for _ in range(most):
        with attempt(engine, kind) as job:
            if not (did := work(job, 1)):
                break
            done += did
    return done


def stack_of(error: Exception) -> str:
    """Where an error was raised, for the log: without its message, which may hold phones and texts."""
    return "".join([*traceback.format_tb(error.__traceback__), _describe(error)])


def _describe(error: Exception) -> str:
    """The kind of error and the place in our code: its message may hold phones and texts."""
    cause: Any = getattr(error, "orig", None) or error
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    ours = [(path.relative_to(ROOT), line) for path, line in frames if path.is_relative_to(ROOT)]
    location = next((f" in {path}, line {line}" for path, line in reversed(ours) if path.parts[0] in PACKAGES), "")
    return f"{type(cause).__name__}{location}"
