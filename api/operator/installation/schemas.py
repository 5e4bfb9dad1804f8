"""Schemas of jobs set aside, audits, the doctor and the guard."""

from typing import get_args

from marshmallow import Schema, validate

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.examples import IMPORT_ID
from api.schemas.fields import Request, doc
from api.schemas.paging import limit
from shared.job_backoff import JobKind

KINDS = sorted(get_args(JobKind))


class FailedJobsQuery(Request):
    """Which failed jobs to show."""

    all = fields.QueryBoolean(
        load_default=False, metadata=doc("Also jobs that failed and will be retried automatically.", False)
    )
    limit = limit("Jobs, 1 to 1,000.")


class Retry(Request):
    """The job to retry."""

    kind = fields.String(
        required=True,
        validate=validate.OneOf(KINDS, error="Use one of {choices}."),
        metadata=doc("The kind of job.", "import", enum=[*KINDS]),
    )
    subject = fields.String(
        required=True,
        validate=validate.Length(1, 100, error="Use {min} to {max} characters."),
        metadata=doc("The subject of the job, as listed.", IMPORT_ID),
    )


class FailedJobResponse(Schema):
    """A job that failed."""

    kind = fields.String(required=True, metadata=doc("The kind of job.", "import", enum=[*KINDS]))
    subject = fields.String(required=True, metadata=doc("What it is about.", IMPORT_ID))
    account_id = fields.Integer(required=True, allow_none=True, metadata=doc("Its account; null if none.", ACCOUNT_ID))
    account = fields.String(required=True, allow_none=True, metadata=doc("The account's name.", "acme"))
    failures = fields.Integer(required=True, metadata=doc("Failures in a row.", 8))
    error = fields.String(required=True, metadata=doc("The last error.", "ValueError in worker/jobs/usage.py, line 80"))
    failed_at = fields.Timestamp(required=True, metadata=doc("When it failed last.", "2026-03-02T09:00:00.120Z"))
    set_aside_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When it was set aside; null if it will be retried automatically.")
    )


class FailedJobsResponse(Schema):
    """Jobs that failed."""

    data = fields.List(fields.Nested(FailedJobResponse), required=True, metadata=doc("The jobs."))


class RetriedJobResponse(Schema):
    """The job will be retried."""

    kind = fields.String(required=True, metadata=doc("The kind of job.", "import"))
    subject = fields.String(required=True, metadata=doc("What it is about.", IMPORT_ID))


class BreachResponse(Schema):
    """A breach of a rule."""

    rule = fields.String(required=True, metadata=doc("The rule.", "account_caches"))
    subject = fields.String(required=True, metadata=doc("What violates it.", "account 17"))
    detail = fields.String(required=True, metadata=doc("The numbers that disagree.", "available 7, by the ledger 8"))
    account_id = fields.Integer(
        required=True, allow_none=True, metadata=doc("The account that is frozen for it; null if none is.", ACCOUNT_ID)
    )


class AuditResponse(Schema):
    """The result of an audit."""

    audit_id = fields.Integer(required=True, attribute="id", metadata=doc("The audit.", 812))
    began_at = fields.Timestamp(required=True, metadata=doc("When it began.", "2026-03-02T09:00:00.120Z"))
    completed_at = fields.Timestamp(required=True, metadata=doc("When it ended.", "2026-03-02T09:00:01.120Z"))
    full = fields.Boolean(
        required=True, metadata=doc("Whether it checked everything, or open and recent sends.", False)
    )
    breaches = fields.List(
        fields.Nested(BreachResponse), required=True, metadata=doc("Violations; none is a clean audit.")
    )
    frozen = fields.List(
        fields.Integer(), required=True, metadata=doc("Accounts that were frozen because of them.", [])
    )


class FindingOfDoctorResponse(Schema):
    """The result of one check."""

    name = fields.String(required=True, metadata=doc("What was checked.", "workers"))
    outcome = fields.String(required=True, metadata=doc("The outcome.", "ok", enum=["ok", "notice", "wrong"]))
    detail = fields.String(required=True, metadata=doc("What was found.", "2 alive"))
    remedy = fields.String(required=True, metadata=doc("What to do about it; empty if it is ok.", ""))


class DoctorResponse(Schema):
    """The checks of the installation."""

    healthy = fields.Boolean(required=True, metadata=doc("Whether nothing is wrong.", True))
    findings = fields.List(
        fields.Nested(FindingOfDoctorResponse), required=True, metadata=doc("The results of the checks.")
    )


class GuardResponse(Schema):
    """The guard against restored databases."""

    held = fields.Boolean(required=True, metadata=doc("Whether sending is held.", False))
    reason = fields.String(required=True, allow_none=True, metadata=doc("Why; null if it is not."))
    confirmed = fields.Boolean(
        required=True, metadata=doc("Whether this start of the database was compared with what is known outside.", True)
    )
    seconds_lost = fields.Integer(
        required=True, attribute="behind", metadata=doc("Seconds of operation that the database has lost.", 0)
    )
    mark = fields.Integer(required=True, metadata=doc("The mark in the database.", 86_400))
    mark_in_redis = fields.Integer(required=True, metadata=doc("The mark in Redis; 0 if there is none.", 86_400))
    mark_in_file = fields.Integer(required=True, metadata=doc("The mark in GUARD_FILE; 0 if there is none.", 0))


class GuardRelease(Request):
    """How to release a held database."""

    send_open = fields.StrictBoolean(
        load_default=False, metadata=doc("Let open sends go on: recipients may get messages twice.", False)
    )
    reason = reason()


class GuardReleasedResponse(Schema):
    """Messages are sent again."""

    released = fields.Boolean(required=True, metadata=doc("Messages are sent again.", True))
    held_sends = fields.Integer(required=True, metadata=doc("Sends that are held for review.", 3))
