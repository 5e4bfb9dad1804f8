"""Schemas of jobs set aside, audits, the doctor and the guard."""

from typing import get_args

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import IMPORT_ID
from api.schemas.paging import limit
from shared.job_backoff import JobKind

KINDS = sorted(get_args(JobKind))


class FailedJobsQuery(Request):
    """Which failed jobs to show."""

    all = fields.QueryBoolean("Also jobs that failed and will be retried automatically.", False, load_default=False)
    limit = limit("Jobs, 1 to 1,000.")


class Retry(Request):
    """The job to retry."""

    kind = fields.Choice(KINDS, "The kind of job.", "import", required=True)
    subject = fields.String(
        "The subject of the job, as listed.", IMPORT_ID, required=True, validate=fields.length(1, 100)
    )


class FailedJobResponse(Response):
    """A job that failed."""

    kind = fields.String("The kind of job.", "import", one_of=KINDS)
    subject = fields.String("What it is about.", IMPORT_ID)
    account_id = fields.Integer("Its account; null if none.", ACCOUNT_ID, allow_none=True)
    account = fields.String("The account's name.", "acme", allow_none=True)
    failures = fields.Integer("Failures in a row.", 8)
    error = fields.String("The last error.", "ValueError in worker/jobs/usage.py, line 80")
    failed_at = fields.Timestamp("When it failed last.", "2026-03-02T09:00:00.120Z")
    set_aside_at = fields.Timestamp("When it was set aside; null if it will be retried automatically.", allow_none=True)


class RetriedJobResponse(Response):
    """The job will be retried."""

    kind = fields.String("The kind of job.", "import")
    subject = fields.String("What it is about.", IMPORT_ID)


class BreachResponse(Response):
    """A breach of a rule."""

    rule = fields.String("The rule.", "account_caches")
    subject = fields.String("What violates it.", "account 17")
    detail = fields.String("The numbers that disagree.", "available 7, by the ledger 8")
    account_id = fields.Integer("The account that is frozen for it; null if none is.", ACCOUNT_ID, allow_none=True)


class AuditResponse(Response):
    """The result of an audit."""

    audit_id = fields.Integer("The audit.", 812, attribute="id")
    began_at = fields.Timestamp("When it began.", "2026-03-02T09:00:00.120Z")
    completed_at = fields.Timestamp("When it ended.", "2026-03-02T09:00:01.120Z")
    full = fields.Boolean("Whether it checked everything, or open and recent sends.", False)
    breaches = fields.List(fields.Nested(BreachResponse), "Violations; none is a clean audit.")
    frozen = fields.List(fields.Integer(), "Accounts that were frozen because of them.", [])


class FindingOfDoctorResponse(Response):
    """The result of one check."""

    name = fields.String("What was checked.", "workers")
    outcome = fields.String("The outcome.", "ok", one_of=["ok", "notice", "wrong"])
    detail = fields.String("What was found.", "2 alive")
    remedy = fields.String("What to do about it; empty if it is ok.", "")


class DoctorResponse(Response):
    """The checks of the installation."""

    healthy = fields.Boolean("Whether nothing is wrong.", True)
    findings = fields.List(fields.Nested(FindingOfDoctorResponse), "The results of the checks.")


class GuardResponse(Response):
    """The guard against restored databases."""

    held = fields.Boolean("Whether sending is held.", False)
    reason = fields.String("Why; null if it is not.", allow_none=True)
    confirmed = fields.Boolean("Whether this start of the database was compared with what is known outside.", True)
    seconds_lost = fields.Integer("Seconds of operation that the database has lost.", 0, attribute="behind")
    mark = fields.Integer("The mark in the database.", 86_400)
    mark_in_redis = fields.Integer("The mark in Redis; 0 if there is none.", 86_400)
    mark_in_file = fields.Integer("The mark in GUARD_FILE; 0 if there is none.", 0)


class GuardRelease(Request):
    """How to release a held database."""

    send_open = fields.StrictBoolean(
        "Let open sends go on: recipients may get messages twice.", False, load_default=False
    )
    reason = reason()


class GuardReleasedResponse(Response):
    """Messages are sent again."""

    released = fields.Boolean("Messages are sent again.", True)
    held_sends = fields.Integer("Sends that are held for review.", 3)
