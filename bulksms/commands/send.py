"""`bulksms send`."""

import time
from typing import Any
from uuid import UUID

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from sqlalchemy import Connection, bindparam, select

from api.resources.sends import control as control
from api.resources.sends.bottleneck import limits_of_sends
from bulksms.environment import database, engine_of, installation
from bulksms.output import console, done, json_option, show_one, show_rows
from shared.accounts import administration as accounts
from shared.accounts.administration import Refused
from shared.accounts.audit_log import record
from shared.db.connection import reading
from shared.db.tables import sends as tables
from shared.lifecycle import STORED_STATUSES
from shared.sends import holding, overview

POLL_SECONDS = 0.5

LISTED = ("id", "account", "state", "accepted", "waiting", "in_doubt", "sent", "delivered", "undelivered")
ONE = select(tables.send).where(tables.send.c.id == bindparam("send"))
NOT_SENT = ("rejected", "failed", "canceled", "expired")


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
        sends = overview.list_sends(connection, account_id=owner, open_only=open_only, limit=limit)
    rows = [
        {
            **{name: each[name] for name in LISTED},
            "not_sent": sum(each[status] for status in NOT_SENT),
            "held_reason": each["held_reason"],
            "created_at": each["created_at"],
        }
        for each in sends
    ]
    show_rows(rows, as_json, "Sends", "There are none.")


@send.command()
@click.argument("send_id", type=click.UUID)
@json_option
def show(send_id: UUID, as_json: bool) -> None:
    """Show one send, and what limits it now."""
    with database() as connection:
        row = _row(connection, send_id)
        limits = limits_of_sends(connection, connection.execute(ONE, {"send": send_id}).all())
    batches = ", ".join(f"{count} {state}" for state, count in row["batches"].items())
    show_one({**row, "batches": batches or None, "limited_by": limits.get(send_id)}, as_json)


@send.command()
@click.argument("send_id", type=click.UUID)
def watch(send_id: UUID) -> None:
    """Follow a send's progress until it completes."""
    with engine_of(installation()) as engine:
        with reading(engine) as connection:
            _row(connection, send_id)  # refuse an unknown id before drawing a progress bar
        columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), MofNCompleteColumn()
        with Progress(*columns, TimeRemainingColumn(), console=console()) as progress:
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
@click.argument("send_ids", metavar="SEND_ID...", type=click.UUID, nargs=-1, required=True)
def cancel(send_ids: tuple[UUID, ...]) -> None:
    """Cancel the rest of these sends and release their credits. If one cannot be canceled, none is."""
    sends = tuple(dict.fromkeys(send_ids))
    with database() as connection:
        holding.lock_sends(connection, sends)
        for send_id in sends:
            row = _row(connection, send_id)
            control.cancel(connection, send_id)
            record(connection, None, "send.canceled", account_id=row["account_id"], subject=send_id)
    done(f"{_sends(sends)} canceled; messages that the carrier already has are not recalled.")


@send.command()
@click.argument("send_id", type=click.UUID)
@click.option("--reason", required=True, help="Shown with the send.")
def hold(send_id: UUID, reason: str) -> None:
    """Hold a send until it is released; its owner cannot resume it."""
    with database() as connection:
        holding.hold(connection, send_id, reason)
    done(f"The send is held. To release it: bulksms send release {send_id}")


@send.command()
@click.argument("send_ids", metavar="SEND_ID...", type=click.UUID, nargs=-1, required=True)
def release(send_ids: tuple[UUID, ...]) -> None:
    """Release held sends. If one cannot be released, none is."""
    sends = tuple(dict.fromkeys(send_ids))
    with database() as connection:
        holding.lock_sends(connection, sends)
        for send_id in sends:
            holding.release(connection, send_id)
    done(f"{_sends(sends)} released.")


def describe(row: dict[str, Any]) -> str:
    """Describe a send's state and results so far in one line."""
    results = [f"{row[status]:,} {status.replace('_', ' ')}" for status in STORED_STATUSES if row[status]]
    return f"{row['state']}: " + (", ".join(results) or "nothing sent yet")


def _sends(sends: tuple[UUID, ...]) -> str:
    return "The send is" if len(sends) == 1 else f"{len(sends)} sends are"


def _row(connection: Connection, send_id: UUID) -> dict[str, Any]:
    row = overview.show_send(connection, send_id)
    if row is None:
        raise Refused(f"There is no send {send_id}. `bulksms send list` shows the newest.")
    return row
