"""SQL conditions for statements that take the next job: whether it may be tried now, and whether others go first."""

from datetime import timedelta
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, ScalarSelect, Text, and_, cast, exists, func, not_, select

from shared.db.tables.running import job_failure

JobKind = Literal[
    "canary",
    "closing",
    "doubt",
    "erasure",
    "expansion",
    "export",
    "import",
    "month",
    "recovery",
    "retention",
    "usage",
    "webhook",
]

YIELDS_FOR = timedelta(minutes=1)
"""For how long after it is due a job that has failed is tried after all others."""

_FAILURE = "FROM job_failure f WHERE f.kind = '{kind}' AND f.subject = CAST({subject} AS text)"
IS_READY: Final = f"(NOT EXISTS (SELECT {_FAILURE} AND f.retry_at > clock_timestamp()))"
"""SQL: whether the job with this `kind` and id `subject` may be tried now."""
HAS_FAILED: Final = f"EXISTS (SELECT {_FAILURE})"
"""SQL: whether it has failed since it last succeeded."""
FAILURES: Final = f"(SELECT f.failures {_FAILURE})"
"""SQL: its number of failures in a row, or null."""
YIELDS: Final = f"EXISTS (SELECT {_FAILURE} AND f.retry_at > now() - interval '{YIELDS_FOR.seconds} seconds')"
"""SQL, to order by: whether the job has failed, until it has been due for a minute."""


def failures_of(kind: JobKind, subject: ColumnElement[Any]) -> ScalarSelect[int]:
    """SQL: the number of failures in a row of the job with this id, or null."""
    return select(job_failure.c.failures).where(_is_of(kind, subject)).scalar_subquery()


def is_ready(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL: whether the job with this id may be tried now."""
    return not_(exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.clock_timestamp()))


def yields(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL, to order by: whether the job has failed, until it has been due for a minute."""
    return exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.now() - YIELDS_FOR)


def is_set_aside(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL: whether the job is set aside."""
    return exists().where(_is_of(kind, subject), job_failure.c.set_aside_at.is_not(None))


def _is_of(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(job_failure.c.kind == kind, job_failure.c.subject == cast(subject, Text))
