"""SQL conditions for statements that take the next job: whether a job must not be tried yet, or yields to others."""

from datetime import timedelta
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Exists, ScalarSelect, Text, and_, cast, exists, func, select

from shared.db.tables.running import job_failure

JobKind = Literal[
    "canary", "closing", "doubt", "erasure", "expansion", "import", "recovery", "retention", "usage", "webhook"
]

YIELDS_FOR = timedelta(minutes=1)

WHICH = "FROM job_failure f WHERE f.kind = '{kind}' AND f.subject = CAST({subject} AS text)"
IN_BACKOFF: Final = f"EXISTS (SELECT {WHICH} AND f.retry_at > clock_timestamp())"
"""SQL: whether the job with this `kind` and id `subject` must not be tried now."""
FAILURES: Final = f"(SELECT f.failures {WHICH})"
"""SQL: its number of failures in a row, or null."""
YIELDING: Final = (
    f"EXISTS (SELECT {WHICH} AND f.retry_at > clock_timestamp() - interval '{YIELDS_FOR.seconds} seconds')"
)
"""SQL, to order by: whether the job has failed, so that others go first, until it has been due for a minute."""


def failures_of(kind: JobKind, subject: ColumnElement[Any]) -> ScalarSelect[int]:
    """SQL: the number of failures in a row of the job with this id, or null."""
    return select(job_failure.c.failures).where(_is_of(kind, subject)).scalar_subquery()


def in_backoff(kind: JobKind, subject: ColumnElement[Any]) -> Exists:
    """SQL: whether the job must not be tried now."""
    return exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.clock_timestamp())


def is_yielding(kind: JobKind, subject: ColumnElement[Any]) -> Exists:
    """SQL, to order by: whether the job has failed, so that others go first, until it has been due for a minute."""
    return exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.clock_timestamp() - YIELDS_FOR)


def is_set_aside(kind: JobKind, subject: ColumnElement[Any]) -> Exists:
    """SQL: whether the job is set aside."""
    return exists().where(_is_of(kind, subject), job_failure.c.set_aside_at.is_not(None))


def _is_of(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(job_failure.c.kind == kind, job_failure.c.subject == cast(subject, Text))
