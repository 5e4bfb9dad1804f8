"""The installation: jobs that were set aside, results of audits, the doctor, and the guard."""

from typing import Any

from sqlalchemy import Connection

from api.endpoint import operator_endpoint, services
from api.operator.installation.schemas import (
    AuditResponse,
    DoctorResponse,
    FailedJobResponse,
    FailedJobsQuery,
    GuardRelease,
    GuardReleasedResponse,
    GuardResponse,
    RetriedJobResponse,
    Retry,
)
from api.schemas.paging import list_of, newest_number
from shared import set_aside_jobs
from shared.accounts.audit_log import Actor
from shared.audit import results
from shared.guard import Notes, state_of
from shared.health.doctor import examine
from shared.health.finding import Installation
from shared.sends import guard_release


@operator_endpoint("GET", "/failed-jobs", query=FailedJobsQuery, response=list_of(FailedJobResponse), scope="read")
def list_failed_jobs(connection: Connection, query: dict[str, Any]) -> Any:
    """List the jobs that were set aside because they kept failing, oldest first."""
    return {"data": set_aside_jobs.list_failed_jobs(connection, query["limit"], waiting=query["all"])}


@operator_endpoint("POST", "/failed-jobs/retry", body=Retry, response=RetriedJobResponse, scope="carriers")
def retry_failed_job(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Retry a job that failed, as soon as a worker is free."""
    set_aside_jobs.retry_failed_job(connection, body["kind"], body["subject"], by=by)
    return body


@operator_endpoint("GET", "/audits", pages=newest_number(AuditResponse), scope="read")
def list_audits(connection: Connection, before: int, limit: int) -> Any:
    """List the results of audits, newest first. Workers audit every hour; `bulksms audit --full` checks everything."""
    return results.list_audits(connection, before=before, limit=limit)


@operator_endpoint("GET", "/doctor", response=DoctorResponse, scope="read")
def run_doctor() -> Any:
    """Check settings, Postgres, Redis, workers, carriers and queue, with a remedy for each problem.

    Takes up to a few seconds. `bulksms doctor` also checks CARRIERS_FILE, which only workers read.
    """
    current = services()
    findings = list(examine(Installation(current.settings, "the API", None), current.engine))
    return {"healthy": not any(finding.outcome == "wrong" for finding in findings), "findings": findings}


@operator_endpoint("GET", "/guard", response=GuardResponse, scope="read")
def get_guard(connection: Connection) -> Any:
    """Show whether sending is held because the database was restored, copied or lost commits."""
    notes, state = _notes(), state_of(connection)
    marks = {"mark_in_redis": notes.in_redis(state.id).mark or 0, "mark_in_file": notes.in_file(state.id).mark or 0}
    return {**state._asdict(), **marks}


@operator_endpoint("POST", "/guard/release", body=GuardRelease, response=GuardReleasedResponse, scope="carriers")
def release_guard(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Resume sending after the guard held it. The sends that were open are held for review.

    With `send_open` they go on, and recipients may get messages twice.
    """
    sends = guard_release.release_guard(connection, _notes(), send_open=body["send_open"], reason=body["reason"], by=by)
    return {"released": True, "held_sends": len(sends)}


def _notes() -> Notes:
    """The notes kept outside the database, in Redis and in GUARD_FILE."""
    return Notes(services().redis, services().settings.guard_file)
