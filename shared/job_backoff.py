"""SQL expressions for statements that take the next job: whether it may be tried now, and whether others go first.

They are about the failures of the job of a kind with the id `subject`: a column, or its name in SQL. An expression may
also be written into SQL.
"""

from typing import Any, Literal

from sqlalchemy import Boolean, Column, ColumnElement, Integer, literal_column

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

Subject = Column[Any] | str


def failures_of(kind: JobKind, subject: Subject) -> ColumnElement[int | None]:
    """The number of failures in a row, or null."""
    return literal_column(f"(SELECT f.failures {_failure(kind, subject)})", Integer)


def has_failed(kind: JobKind, subject: Subject) -> ColumnElement[bool]:
    """Whether the job has failed since it last succeeded."""
    return literal_column(f"EXISTS (SELECT {_failure(kind, subject)})", Boolean)


def is_ready(kind: JobKind, subject: Subject) -> ColumnElement[bool]:
    """Whether the job may be tried now."""
    rests = f"EXISTS (SELECT {_failure(kind, subject)} AND f.retry_at > clock_timestamp())"
    return literal_column(f"(NOT {rests})", Boolean)


def yields(kind: JobKind, subject: Subject) -> ColumnElement[bool]:
    """To order by: whether the job has failed, until it has been due for a minute."""
    recent = "f.retry_at > now() - interval '1 minute'"
    return literal_column(f"EXISTS (SELECT {_failure(kind, subject)} AND {recent})", Boolean)


def is_set_aside(kind: JobKind, subject: Subject) -> ColumnElement[bool]:
    """Whether the job is set aside."""
    return literal_column(f"EXISTS (SELECT {_failure(kind, subject)} AND f.set_aside_at IS NOT NULL)", Boolean)


def _failure(kind: JobKind, subject: Subject) -> str:
    return f"FROM job_failure f WHERE f.kind = '{kind}' AND f.subject = CAST({subject} AS text)"
