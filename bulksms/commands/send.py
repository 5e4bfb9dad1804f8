"""`bulksms send`."""

import time
from typing import Any
from uuid import UUID

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from sqlalchemy import Connection, RowMapping, text

from api.resources.sends import control as control
from bulksms.commands.common import console, database, done, engine_of, installation, json_option, show_one, show_rows
from shared.accounts import administration as accounts
from shared.accounts.administration import Refused
from shared.accounts.audit_log import record
from shared.db.connection import reading
from shared.lifecycle import STORED
from shared.sends import holding

RESULTS = " + ".join(f"s.{status}" for status in STORED)
POLL_SECONDS = 0.5

LIST = text(
    f"""
    SELECT s.id, a.name AS account, s.state, s.accepted, s.accepted - ({RESULTS}) AS waiting, s.in_doubt, s.sent,
           s.delivered, s.undelivered, s.rejected + s.failed + s.canceled + s.expired AS not_sent, s.held_reason,
           s.created_at
      FROM send s JOIN account a ON a.id = s.account_id
     WHERE (CAST(:account AS bigint) IS NULL OR s.account_id = :account) AND (NOT :open OR s.completed_at IS NULL)
     ORDER BY s.id DESC LIMIT :limit
    """
)
SHOW = text(
    f"""
    SELECT s.id, a.name AS account, s.api_key_id, s.kind, s.state, s.held_by, s.held_reason, s.test, s.sender_id,
           s.encoding, s.segments, s.price, s.reference, s.group_id, s.rate, s.send_at, s.expires_at, s.submitted,
           s.accepted, s.duplicate, s.invalid, s.suppressed, s.removed, s.resent, s.accepted - ({RESULTS}) AS waiting,
           {", ".join(f"s.{status}" for status in STORED)}, s.unexpanded, s.open_batches,
           (SELECT string_agg(format('%s %s', n, b.state), ', ')
              FROM (SELECT state, count(*) AS n FROM batch WHERE send_id = s.id GROUP BY state ORDER BY state) AS b)
               AS batches,
           s.created_at, s.completed_at
      FROM send s JOIN account a ON a.id = s.account_id WHERE s.id = :send
    """
)


@click.group()
def send() -> None:
    """Show, hold, release and cancel sends."""


@send.command("list")
@click.option("--account", help="Only this account, by id or name.")
@click.option("--open", "open_only", is_flag=True, help="Only sends that have not completed.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True)
@json_option
def list_sends(account: str | None, open_only: bool, limit: int, as_json: bool) -> None:
    """List sends, newest first."""
    with database() as connection:
        owner = accounts.find_account(connection, account) if account else None
        rows = connection.execute(LIST, {"account": owner, "open": open_only, "limit": limit}).mappings().all()
    show_rows(rows, as_json, "Sends", "There are none.")


@send.command()
@click.argument("send_id", type=click.UUID)
@json_option
def show(send_id: UUID, as_json: bool) -> None:
    """Show one send."""
    with database() as connection:
        row = _row(connection, send_id)
    show_one(row, as_json)


@send.command()
@click.argument("send_id", type=click.UUID)
def watch(send_id: UUID) -> None:
    """Follow a send's progress until it completes."""
    with database() as connection:
        _row(connection, send_id)  # refuse an unknown id before drawing a progress bar
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), MofNCompleteColumn()
    with engine_of(installation()) as engine, Progress(*columns, TimeRemainingColumn(), console=console()) as progress:
        task = progress.add_task("", total=None)
        while True:
            with reading(engine) as connection:
                row = _row(connection, send_id)
            finished = row["accepted"] - row["waiting"]
            progress.update(task, description=describe(row), total=row["accepted"], completed=finished)
            if row["completed_at"] is not None:
                return
            time.sleep(POLL_SECONDS)


@send.command()
@click.argument("send_id", type=click.UUID)
def cancel(send_id: UUID) -> None:
    """Cancel what is left of a send and release its credits."""
    with database() as connection:
        _row(connection, send_id)
        control.cancel(connection, send_id)
        record(connection, None, "send.canceled", subject=send_id)
    done("The send is canceled; messages that the carrier already has stay sent.")


@send.command()
@click.argument("send_id", type=click.UUID)
@click.option("--reason", required=True, help="Shown with the send.")
def hold(send_id: UUID, reason: str) -> None:
    """Hold a send until it is released; its owner cannot resume it."""
    with database() as connection:
        holding.hold(connection, send_id, reason)
    done(f"The send is held. To release it: bulksms send release {send_id}")


@send.command()
@click.argument("send_id", type=click.UUID)
def release(send_id: UUID) -> None:
    """Release a held send."""
    with database() as connection:
        holding.release(connection, send_id)
    done("The send is released.")


def describe(row: RowMapping | dict[str, Any]) -> str:
    """Describe a send's state and results so far in one line."""
    results = [f"{row[status]:,} {status.replace('_', ' ')}" for status in STORED if row[status]]
    return f"{row['state']}: " + (", ".join(results) or "nothing sent yet")


def _row(connection: Connection, send_id: UUID) -> RowMapping:
    row = connection.execute(SHOW, {"send": send_id}).mappings().one_or_none()
    if row is None:
        raise Refused(f"There is no send {send_id}. `bulksms send list` shows the newest.")
    return row
