"""The installation: jobs that were set aside, results of audits, the doctor, and the guard."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.idempotency import IdempotentResponse
from api.operator.audited_change import act_once
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
from api.schemas.paging import Paging, list_of, page_of
from shared import set_aside_jobs
from shared.accounts.audit_log import Actor
from shared.audit import results
from shared.db.connection import reading
from shared.guard import Notes, state_of
from shared.health.doctor import examine
from shared.health.finding import Installation
from shared.ids import LAST_NUMBER
from shared.sends import guard_release


@operator_endpoint("GET", "/failed-jobs", query=FailedJobsQuery, response=list_of(FailedJobResponse), scope="read")
def list_failed_jobs(caller: Operator, query: dict[str, Any]) -> Any:
    """List the jobs that were set aside because they kept failing, oldest first."""
    with reading_list(services().engine) as connection:
        return {"data": set_aside_jobs.list_failed_jobs(connection, query["limit"], waiting=query["all"])}


@operator_endpoint("POST", "/failed-jobs/retry", body=Retry, response=RetriedJobResponse, scope="carriers")
def retry_failed_job(caller: Operator, body: dict[str, Any]) -> IdempotentResponse:
    """Retry a job that failed, as soon as a worker is free."""

    def retry(connection: Connection, by: Actor) -> Any:
        set_aside_jobs.retry_failed_job(connection, body["kind"], body["subject"], by=by)
        return body

    return act_once(caller, body, retry)


@operator_endpoint("GET", "/audits", query=Paging, response=page_of(AuditResponse), scope="read")
def list_audits(caller: Operator, query: dict[str, Any]) -> Any:
    """List the results of audits, newest first. Workers audit every hour; `bulksms audit --full` checks everything."""
    before, limit = number_cursor(query.get("cursor"), LAST_NUMBER), query["limit"]
    with reading_list(services().engine) as connection:
        rows = results.list_audits(connection, before=before, limit=limit + 1)
    return page(rows, limit, lambda row: str(row["id"]))


@operator_endpoint("GET", "/doctor", response=DoctorResponse, scope="read")
def run_doctor(caller: Operator) -> Any:
    """Check settings, Postgres, Redis, workers, carriers and queue, with a remedy for each problem.

    Takes up to a few seconds. `bulksms doctor` also checks CARRIERS_FILE, which only workers read.
    """
    current = services()
    findings = list(examine(Installation(current.settings, "the API", None), current.engine))
    return {"healthy": not any(finding.outcome == "wrong" for finding in findings), "findings": findings}


@operator_endpoint("GET", "/guard", response=GuardResponse, scope="read")
def get_guard(caller: Operator) -> Any:
    """Show whether sending is held because the database was restored, copied or lost commits."""
    notes = _notes()
    with reading(services().engine) as connection:
        state = state_of(connection)
    marks = {"mark_in_redis": notes.in_redis(state.id).mark or 0, "mark_in_file": notes.in_file(state.id).mark or 0}
    return {**state._asdict(), **marks}


@operator_endpoint("POST", "/guard/release", body=GuardRelease, response=GuardReleasedResponse, scope="carriers")
def release_guard(caller: Operator, body: dict[str, Any]) -> IdempotentResponse:
    """Resume sending after the guard held it. The sends that were open are held for review.

    With `send_open` they go on, and recipients may get messages twice.
    """

    def release(connection: Connection, by: Actor) -> Any:
        sends = guard_release.release_guard(
            connection, _notes(), send_open=body["send_open"], reason=body["reason"], by=by
        )
        return {"released": True, "held_sends": len(sends)}

    return act_once(caller, body, release)


def _notes() -> Notes:
    """The notes kept outside the database, in Redis and in GUARD_FILE."""
    redis, guard_file = services().redis, services().settings.guard_file
    return Notes(redis, Path(guard_file) if guard_file else None)
