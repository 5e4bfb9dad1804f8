"""`bulksms archive`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path

import click
from sqlalchemy import Engine

from bulksms.environment import Installation, database, engine_of, installation
from bulksms.output import done, json_option, messages, show_rows, writing
from shared.archive.restore import list_archived, read, restore, rewrite
from shared.archive.weeks import archive as archive_weeks
from shared.audit.check import audit
from shared.plurals import counted

FOLDER = click.Path(file_okay=False, path_type=Path)
DAY = click.DateTime(["%Y-%m-%d"])


@click.group()
def archive() -> None:
    """Old weeks of messages, in files. WEEK is the date of its Monday."""


@archive.command("write")
@click.argument("folder", type=FOLDER)
@click.option(
    "--before", type=DAY, metavar="DATE", required=True, help="Archive the weeks that ended before this date."
)
def write_weeks(folder: Path, before: datetime) -> None:
    """Move weeks of messages to files in FOLDER.

    Runs a full audit first, and archives nothing if it finds a breach. If it is interrupted, run it again.
    """
    target = installation()
    with _database(target, folder) as engine:
        with messages().status("Auditing ..."):
            breaches = audit(engine, full=True, doubt_grace=target.settings.doubt_grace)
        if breaches:
            raise click.ClickException("The audit is not clean, so nothing was archived. See `bulksms audit --full`.")
        archived = archive_weeks(engine, before.date(), folder, _say)
    done(f"{counted(len(archived), 'week is', 'weeks are')} archived in {folder}.")


@archive.command("list")
@json_option
def list_weeks(as_json: bool) -> None:
    """List the archived weeks, oldest first, with the checksums of their files.

    `rewrite` says that something was forgotten or erased since the file was written.
    """
    with database() as connection:
        rows = list_archived(connection)
    show_rows(rows, as_json, "Archived weeks", "No week is archived.")


@archive.command("read")
@click.argument("folder", type=FOLDER)
@click.argument("week", type=DAY, metavar="WEEK")
def read_week(folder: Path, week: datetime) -> None:
    """Print the messages of a week as CSV, without what was forgotten or erased since."""
    with _database(installation(), folder) as engine, writing():
        read(engine, week.date(), folder, sys.stdout.buffer.write)
        sys.stdout.buffer.flush()


@archive.command("rewrite")
@click.argument("folder", type=FOLDER)
@click.argument("week", type=DAY, metavar="WEEK")
@click.option("--to", type=FOLDER, required=True, help="Another folder, for the new file.")
def rewrite_week(folder: Path, week: datetime, to: Path) -> None:
    """Write a week's file again, without what was forgotten or erased since. Delete the old file afterwards."""
    with _database(installation(), to) as engine:
        manifest = rewrite(engine, week.date(), folder, to, _say)
    done(f"{manifest.messages:,} messages are in {to}. Delete the files of the week in {folder}.")


@archive.command("restore")
@click.argument("folder", type=FOLDER)
@click.argument("week", type=DAY, metavar="WEEK")
def restore_week(folder: Path, week: datetime) -> None:
    """Put a week's messages back into the database, without what was forgotten or erased since."""
    with _database(installation(), folder) as engine:
        restore(engine, week.date(), folder, _say)


def _say(week: date, step: str) -> None:
    if step != "writing":
        messages().print(f"{week}: {step}")


@contextmanager
def _database(target: Installation, folder: Path) -> Iterator[Engine]:
    """The installation's engine. Errors of files in the folder become one sentence."""
    try:
        with engine_of(target) as engine:
            yield engine
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: {error.strerror}.") from error
