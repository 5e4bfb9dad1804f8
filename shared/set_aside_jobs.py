"""Jobs that were set aside because they kept failing, and how they are retried."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select

from shared.accounts.administration import Refused
from shared.accounts.audit_log import Actor, record
from shared.contacts.imports import retry_import
from shared.db.tables.accounts import account
from shared.db.tables.running import job_failure
from shared.db.tables.sends import send
from shared.events.webhook_states import enable_after_fault
from shared.job_backoff import JobKind
from shared.job_failures import clear_failures
from shared.lifecycle import SendState
from shared.sends.holding import release

LIST = select(
    *job_failure.c["kind", "subject", "account_id"],
    account.c.name.label("account"),
    *job_failure.c["failures", "error", "failed_at", "set_aside_at"],
).select_from(job_failure.outerjoin(account, account.c.id == job_failure.c.account_id))


def list_failed_jobs(connection: Connection, limit: int, *, waiting: bool = False) -> list[dict[str, Any]]:
    """The jobs that are set aside, oldest first; with `waiting`, also those that will be retried by themselves."""
    chosen = LIST if waiting else LIST.where(job_failure.c.set_aside_at.is_not(None))
    ordered = chosen.order_by(job_failure.c.set_aside_at.nulls_last(), job_failure.c.failed_at, job_failure.c.subject)
    return [dict(row) for row in connection.execute(ordered.limit(limit)).mappings()]


def retry_failed_job(connection: Connection, kind: JobKind, subject: str, *, by: Actor | None = None) -> None:
    """Put a failed job back into its queue. Raises Refused if it has not failed."""
    of_job = (job_failure.c.kind == kind, job_failure.c.subject == subject)
    account_id = connection.execute(select(job_failure.c.account_id).where(*of_job)).scalar()
    if not clear_failures(connection, kind, subject):
        raise Refused(f"No {kind} {subject} failed.", "`bulksms job list --all` shows those that did.")
    if kind in BACK_IN_QUEUE:
        BACK_IN_QUEUE[kind](connection, UUID(subject), by)
    record(connection, by, "job.retried", account_id=account_id, subject=f"{kind} {subject}")


def _release(connection: Connection, send_id: UUID, by: Actor | None) -> None:
    if connection.execute(select(send.c.state).where(send.c.id == send_id)).scalar() == SendState.HELD:
        release(connection, send_id, by=by)


BACK_IN_QUEUE: dict[str, Callable[[Connection, UUID, Actor | None], object]] = {
    "expansion": _release,
    "import": lambda connection, subject, _: retry_import(connection, subject),
    "webhook": lambda connection, subject, _: enable_after_fault(connection, subject),
}
"""How to requeue jobs that have a state of their own; clearing the failures is enough for the others."""
