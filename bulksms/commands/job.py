"""`bulksms job`."""

from typing import get_args

import click

from bulksms.environment import database
from bulksms.output import done, json_option, show_rows
from shared.job_backoff import JobKind
from shared.set_aside_jobs import list_failed_jobs, retry_failed_job


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
        rows = list_failed_jobs(connection, limit, waiting=all_failing)
    show_rows(rows, as_json, "Jobs set aside", "No job is set aside.")


@job.command("retry")
@click.argument("kind", type=click.Choice(sorted(get_args(JobKind))))
@click.argument("subject")
def retry_job(kind: JobKind, subject: str) -> None:
    """Retry a job that was set aside, as soon as a worker is free.

    Take KIND and SUBJECT from `bulksms job list`.
    """
    with database() as connection:
        retry_failed_job(connection, kind, subject)
    done(f"The {kind} will be retried.")
