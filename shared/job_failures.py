"""Retries failing jobs with growing delays and finally sets them aside, so that they do not hold up other jobs.

A job is the oldest entry of some queue that a worker takes: an import, the expansion of a send, an erasure. It fails if
an error concerns this job alone. An outage, such as an unavailable database, is no failure: it is raised, and the job
is retried as usual.

The delay is FIRST_WAIT and doubles after each failure. Of most kinds, jobs that have failed are tried after the others
(`job_backoff.py`). After MAX_FAILURES a job is set aside until the operator retries it. `on_set_aside` of `attempt` can
move the job out of its queue in the same commit; a job without such a state stays aside because of its row here.
"""

import logging
import math
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Boolean,
    Connection,
    Double,
    Engine,
    Row,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from shared.db.connection import is_outage, is_session_expired, transaction
from shared.db.expressions import seconds
from shared.db.tables.base import MOMENT
from shared.db.tables.running import job_failure
from shared.encryption import TextKeyMissing
from shared.job_backoff import JobKind

log = logging.getLogger(__name__)

ROUND_SECONDS = 0.5
"""Seconds after which a round of jobs begins no further one: what runs once a second must not stay away for long."""
MAX_FAILURES: Final = 8
"""Failures in a row before a job is set aside, after two minutes or more."""
FIRST_WAIT: Final = 1.0
"""Seconds between the first failure and the next attempt."""

ROOT = Path(__file__).parent.parent
PACKAGES = ("shared", "worker")

OF_JOB = and_(job_failure.c.kind == bindparam("job_kind"), job_failure.c.subject == bindparam("job_subject"))
WAIT = bindparam("wait", type_=Double)
AT = func.statement_timestamp()  # one reading of the clock, so `retry_at` is exactly the delay after `failed_at`
NEW = insert(job_failure).values(failures=1, failed_at=AT, retry_at=AT + seconds(WAIT))
FAIL = NEW.on_conflict_do_update(
    index_elements=["kind", "subject"],
    set_={
        "failures": job_failure.c.failures + 1,
        **{name: NEW.excluded[name] for name in ("account_id", "error", "failed_at")},
        "retry_at": AT + seconds(WAIT * func.power(2, func.least(job_failure.c.failures, MAX_FAILURES))),
    },
).returning(job_failure.c.failures)
MARK_SET_ASIDE = (
    update(job_failure)
    .where(OF_JOB)
    .values(
        set_aside_at=func.coalesce(job_failure.c.set_aside_at, func.clock_timestamp()),
        retry_at=case(
            (bindparam("rests", type_=Boolean), cast(literal("infinity", Text), MOMENT)), else_=func.clock_timestamp()
        ),
    )
)
CLEAR = delete(job_failure).where(OF_JOB)

T = TypeVar("T")

OnSetAside = Callable[[Connection, str, str], None]
"""Moves the job with this id out of its queue; the last argument is the error without any data."""


@dataclass(slots=True)
class Job:
    """The job that is being attempted."""

    kind: JobKind
    subject: str | None = None
    account_id: int | None = None
    failures: int = 0
    retried: list[str] = field(default_factory=list)
    """The subjects of the jobs begun that had failed before."""

    def begin(self, subject: object, account_id: int | None, failures: int | None) -> None:
        """Name the job. Errors before this concern the queue, not a job."""
        self.subject, self.account_id, self.failures = str(subject), account_id, failures or 0
        if failures:
            self.retried.append(self.subject)


@contextmanager
def attempt(engine: Engine, kind: JobKind, on_set_aside: OnSetAside | None = None) -> Iterator[Job]:
    """Context around the transaction that takes and does the next job.

    Errors after `Job.begin` are logged and stored as the job's failure, and not raised, except for those that concern
    all jobs.
    """
    job = Job(kind)
    try:
        yield job
    except Exception as error:
        if job.subject is None or _is_outage(error) or isinstance(error, TextKeyMissing):
            raise
        failed(engine, job, error, on_set_aside)
    else:
        if job.retried:
            with transaction(engine) as connection:
                for subject in job.retried:
                    clear_failures(connection, kind, subject)


def failed(engine: Engine, job: Job, error: Exception, on_set_aside: OnSetAside | None = None) -> bool:
    """Store a job's failure. Returns whether the job is now set aside."""
    description = _describe(error)
    with transaction(engine, durable=False) as connection:  # others need the disk: many jobs may fail at once
        values = {"kind": job.kind, "subject": job.subject, "account_id": job.account_id, "error": description}
        failures = connection.execute(FAIL, {**values, "wait": FIRST_WAIT}).scalar_one()
    if failures >= MAX_FAILURES:
        with transaction(engine) as connection:
            key = {"job_kind": job.kind, "job_subject": job.subject}
            marked = connection.execute(MARK_SET_ASIDE, {**key, "rests": on_set_aside is None}).rowcount
            if marked and on_set_aside is not None:  # the operator may have had it retried meanwhile
                on_set_aside(connection, str(job.subject), description)
    suffix = ", and is set aside" if failures >= MAX_FAILURES else ""
    cause = stack_of(error) if failures == 1 or suffix else description  # many jobs may fail again and again
    log.error("the %s of %s failed, %d times now%s: %s", job.kind, job.subject, failures, suffix, cause)
    return bool(failures >= MAX_FAILURES)


def clear_failures(connection: Connection, kind: JobKind, subject: object) -> bool:
    """Delete the job's failures. False if there are none."""
    return bool(connection.execute(CLEAR, {"job_kind": kind, "job_subject": str(subject)}).rowcount)


def attempt_each(
    engine: Engine, kind: JobKind, rows: Iterable[Row[Any]], work: Callable[[Connection, Row[Any]], object]
) -> None:
    """Do the jobs of the rows, which have `id`, `account_id` and `failures`, each in its own transaction.

    What takes too long is left for the next round (`time_boxed`).
    """
    for row in time_boxed(rows):
        with attempt(engine, kind) as job, transaction(engine) as connection:
            job.begin(row.id, row.account_id, row.failures)
            work(connection, row)


def batch_then_singly(engine: Engine, kind: JobKind, work: Callable[[Job, int, bool], int], limit: int) -> int:
    """Do up to `limit` jobs in one transaction, or one by one if that fails; then, one by one, those that have failed.

    One by one, those that take too long are left for the next round (`time_boxed`).

    `work` is called with the number of jobs to do at most, and does the oldest that have not failed before, or with
    True those that have. It calls `Job.begin` for each, and returns how many it did.
    """
    try:
        done = work(Job(kind), limit, False)
    except Exception as error:
        if _is_outage(error) or isinstance(error, TextKeyMissing):
            raise
        log.warning("%s failed for several at once; trying them one by one: %s", kind, _describe(error))
        done = _singly(engine, kind, lambda job: work(job, 1, False), limit)
    return done + _singly(engine, kind, lambda job: work(job, 1, True), limit)


def _singly(engine: Engine, kind: JobKind, work: Callable[[Job], int], limit: int) -> int:
    done = 0
    for _ in time_boxed(range(limit)):
        with attempt(engine, kind) as job:
            if not (count := work(job)):
                break
            done += count
    return done


def time_boxed(jobs: Iterable[T]) -> Iterator[T]:
    """The jobs, until ROUND_SECONDS after the first was begun; the rest are left for the next round."""
    deadline = math.inf
    for job in jobs:
        deadline = min(deadline, time.monotonic() + ROUND_SECONDS)
        yield job  # at least the first, however long it takes
        if time.monotonic() > deadline:
            return


def _is_outage(error: Exception) -> bool:
    return is_outage(error) and not is_session_expired(error)  # which the job itself has caused


def stack_of(error: Exception) -> str:
    """The location of an error, for the log: without its message, which may contain phones and texts."""
    return "".join([*traceback.format_tb(error.__traceback__), _describe(error)])


def _describe(error: Exception) -> str:
    """The type and location of an error, without its message, which may contain phones and texts."""
    cause: Any = getattr(error, "orig", None) or error
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own_frames = [(path.relative_to(ROOT), line) for path, line in frames if path.is_relative_to(ROOT)]
    location = next(
        (f" in {path}, line {line}" for path, line in reversed(own_frames) if path.parts[0] in PACKAGES), ""
    )
    return f"{type(cause).__name__}{location}"
