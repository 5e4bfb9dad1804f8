"""`bulksms job`."""

from collections.abc import Callable
from typing import get_args
from uuid import UUID

import click
from sqlalchemy import Connection, text

from bulksms.commands.common import database, done, json_option, show_rows
from shared.accounts.administration import Refused
from shared.accounts.audit_log import record
from shared.contacts.imports import retry_import
from shared.job_failures import JobKind, clear_failures
from shared.sends.holding import release
from worker.webhooks.failures import enable_again

LIST = text(
    """
    SELECT f.kind, f.subject, a.name AS account, f.failures, f.error, f.failed_at, f.set_aside_at
      FROM job_failure f LEFT JOIN account a ON a.id = f.account_id
     WHERE f.set_aside_at IS NOT NULL OR :all
     ORDER BY f.set_aside_at NULLS LAST, f.failed_at LIMIT :limit
    """
)
ACCOUNT = text("SELECT account_id FROM job_failure WHERE kind = :kind AND subject = :subject")
IS_HELD = text("SELECT EXISTS (SELECT FROM send WHERE id = :id AND state = 'held')")


def _release(connection: Connection, send: UUID) -> None:
    if connection.execute(IS_HELD, {"id": send}).scalar():
        release(connection, send)


BACK_IN_QUEUE: dict[str, Callable[[Connection, UUID], object]] = {
    "expansion": _release,
    "import": retry_import,
    "webhook": enable_again,
}
"""How to requeue jobs that have a state of their own; clearing the failures is enough for the others."""


@click.group()
def job() -> None:
    """Jobs that were set aside because they kept failing."""


@job.command("list")
@click.option("--all", "all_failing", is_flag=True, help="Also jobs that failed and will be retried automatically.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@json_option
def list_jobs(all_failing: bool, limit: int, as_json: bool) -> None:
    """List the jobs that are set aside, oldest first."""
    with database() as connection:
        rows = connection.execute(LIST, {"all": all_failing, "limit": limit}).mappings().all()
    show_rows(rows, as_json, "Jobs set aside", "No job is set aside.")


@job.command("retry")
@click.argument("kind", type=click.Choice(sorted(get_args(JobKind))))
@click.argument("subject")
def retry_job(kind: JobKind, subject: str) -> None:
    """Retry a job that was set aside, as soon as a worker is free.

    Take KIND and SUBJECT from `bulksms job list`.
    """
    with database() as connection:
        account = connection.execute(ACCOUNT, {"kind": kind, "subject": subject}).scalar()
        if not clear_failures(connection, kind, subject):
            raise Refused(f"No {kind} {subject} failed. `bulksms job list --all` shows those that did.")
        if kind in BACK_IN_QUEUE:
            BACK_IN_QUEUE[kind](connection, UUID(subject))
        record(connection, None, "job.retried", account_id=account, subject=f"{kind} {subject}")
    done(f"The {kind} will be retried.")
