"""SQL conditions for statements that take the next job: whether it may be tried now, and whether others go first."""

from datetime import timedelta
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, ScalarSelect, Text, and_, cast, exists, func, not_, select

from shared.db.tables.running import job_failure

JobKind = Literal[
    "canary", "closing", "doubt", "erasure", "expansion", "import", "recovery", "retention", "usage", "webhook"
]

PAUSE = timedelta(milliseconds=500)
"""After a job of an account has failed, none of the account's jobs of that kind is tried for this long: many may fail,
one after another, and others need the processor."""
YIELDS_FOR = timedelta(minutes=1)

WHICH = "FROM job_failure f WHERE f.kind = '{kind}' AND f.subject = CAST({subject} AS text)"
IS_READY: Final = f"""
    NOT EXISTS (SELECT {WHICH} AND f.retry_at > clock_timestamp())
    AND NOT EXISTS (SELECT FROM job_failure f WHERE f.kind = '{{kind}}' AND f.account_id = {{account}}
                                                AND f.failed_at > now() - interval '{PAUSE.total_seconds()} seconds')
"""
"""SQL: whether the job with this `kind` and id `subject`, of this `account`, may be tried now."""
FAILURES: Final = f"(SELECT f.failures {WHICH})"
"""SQL: its number of failures in a row, or null."""
YIELDING: Final = (
    f"EXISTS (SELECT {WHICH} AND f.retry_at > clock_timestamp() - interval '{YIELDS_FOR.seconds} seconds')"
)
"""SQL, to order by: whether the job has failed, so that others go first, until it has been due for a minute."""


def failures_of(kind: JobKind, subject: ColumnElement[Any]) -> ScalarSelect[int]:
    """SQL: the number of failures in a row of the job with this id, or null."""
    return select(job_failure.c.failures).where(_is_of(kind, subject)).scalar_subquery()


def is_ready(
    kind: JobKind, subject: ColumnElement[Any], account: ColumnElement[Any] | None = None
) -> ColumnElement[bool]:
    """SQL: whether the job with this id may be tried now, and if it is an account's, whether the account may."""
    backs_off = exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.clock_timestamp())
    if account is None:
        return not_(backs_off)
    paused = exists().where(
        job_failure.c.kind == kind, job_failure.c.account_id == account, job_failure.c.failed_at > func.now() - PAUSE
    )
    return and_(not_(backs_off), not_(paused))


def is_yielding(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL, to order by: whether the job has failed, so that others go first, until it has been due for a minute."""
    return exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.clock_timestamp() - YIELDS_FOR)


def is_set_aside(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL: whether the job is set aside."""
    return exists().where(_is_of(kind, subject), job_failure.c.set_aside_at.is_not(None))


def _is_of(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(job_failure.c.kind == kind, job_failure.c.subject == cast(subject, Text))
