"""SQL conditions for statements that take the next job: whether it may be tried now, and whether others go first."""

from datetime import timedelta
from typing import Any, Final, Literal

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
)

from shared.db.tables.base import MOMENT
from shared.db.tables.running import job_failure

JobKind = Literal[
    "canary", "closing", "doubt", "erasure", "expansion", "import", "recovery", "retention", "usage", "webhook"
]

SEVERAL = 2
"""This many failures of an account within a short time make its other jobs of the kind wait: many more may follow."""
PAUSE = timedelta(seconds=2)
"""With SEVERAL failures within this time, none of the account's jobs of the kind is tried."""
ACCOUNT_YIELDS_FOR = timedelta(seconds=10)
"""With SEVERAL failures within this time, they are tried after those of other accounts."""
YIELDS_FOR = timedelta(minutes=1)
"""For how long after it is due a job that has failed is tried after all others."""
AHEAD = timedelta(minutes=1)
"""A failure dated more than this ahead was stored before the clock of the database was set back. Nothing waits for it,
unless its job is set aside."""

WHICH = "FROM job_failure f WHERE f.kind = '{kind}' AND f.subject = CAST({subject} AS text)"
SEVERAL_FAILED = f"""
    EXISTS (SELECT FROM job_failure f WHERE f.kind = '{{kind}}' AND f.account_id = {{account}}
                                        AND f.failed_at > now() - interval '{{within}}'
                                        AND f.failed_at <= now() + interval '{AHEAD}' OFFSET {SEVERAL - 1})
"""
"""SQL: whether SEVERAL jobs of this `kind` of the `account` have failed `within` this time."""
IS_PAUSED: Final = SEVERAL_FAILED.replace("{within}", str(PAUSE))
"""SQL: whether no job of this `kind` of the `account` may be tried now, as several have just failed."""
BACKS_OFF: Final = f"""
    (f.retry_at > clock_timestamp() AND (f.failed_at <= now() + interval '{AHEAD}' OR f.retry_at = 'infinity'))
"""
"""SQL: whether the job with the failures `f` may not be tried yet, or is set aside."""
IS_READY: Final = f"(NOT EXISTS (SELECT {WHICH} AND {BACKS_OFF}) AND NOT {IS_PAUSED})"
"""SQL: whether the job with this `kind` and id `subject`, of this `account`, may be tried now."""
HAS_FAILED: Final = f"EXISTS (SELECT {WHICH})"
"""SQL: whether it has failed since it last succeeded."""
FAILURES: Final = f"(SELECT f.failures {WHICH})"
"""SQL: its number of failures in a row, or null."""
BACKOFF_RANK: Final = f"""
    CASE WHEN EXISTS (SELECT {WHICH} AND f.retry_at > now() - interval '{YIELDS_FOR.seconds} seconds'
                                     AND f.failed_at <= now() + interval '{AHEAD}') THEN 2
         WHEN {SEVERAL_FAILED.replace("{within}", str(ACCOUNT_YIELDS_FOR))} THEN 1
         ELSE 0 END
"""
"""SQL, to order by: 2 if the job has failed, until it has been due for a minute; 1 if several of the account have
failed recently; otherwise 0."""
NOT_AHEAD = job_failure.c.failed_at <= func.now() + AHEAD
INFINITY = cast(literal_column("'infinity'"), MOMENT)


def failures_of(kind: JobKind, subject: ColumnElement[Any]) -> ScalarSelect[int]:
    """SQL: the number of failures in a row of the job with this id, or null."""
    return select(job_failure.c.failures).where(_is_of(kind, subject)).scalar_subquery()


def is_ready(
    kind: JobKind, subject: ColumnElement[Any], account: ColumnElement[Any] | None = None
) -> ColumnElement[bool]:
    """SQL: whether the job with this id may be tried now, and if it is an account's, whether the account may."""
    backs_off = exists().where(
        _is_of(kind, subject),
        job_failure.c.retry_at > func.clock_timestamp(),
        or_(NOT_AHEAD, job_failure.c.retry_at == INFINITY),
    )
    if account is None:
        return not_(backs_off)
    return and_(not_(backs_off), not_(_have_several_failed(kind, account, PAUSE)))


def backoff_rank(kind: JobKind, subject: ColumnElement[Any], account: ColumnElement[Any]) -> ColumnElement[int]:
    """SQL, to order by: 2 if the job has failed, until it has been due for a minute; 1 if several of the account have
    failed recently; otherwise 0.
    """
    failed = exists().where(_is_of(kind, subject), job_failure.c.retry_at > func.now() - YIELDS_FOR, NOT_AHEAD)
    return case((failed, 2), (_have_several_failed(kind, account, ACCOUNT_YIELDS_FOR), 1), else_=0)


def is_set_aside(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    """SQL: whether the job is set aside."""
    return exists().where(_is_of(kind, subject), job_failure.c.set_aside_at.is_not(None))


def _have_several_failed(kind: JobKind, account: ColumnElement[Any], within: timedelta) -> ColumnElement[bool]:
    """SQL: whether SEVERAL jobs of the account have failed in this time."""
    failed = select(job_failure.c.subject).where(
        job_failure.c.kind == kind,
        job_failure.c.account_id == account,
        job_failure.c.failed_at > func.now() - within,
        NOT_AHEAD,
    )
    return failed.offset(SEVERAL - 1).exists()


def _is_of(kind: JobKind, subject: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(job_failure.c.kind == kind, job_failure.c.subject == cast(subject, Text))
