"""`bulksms guard`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import text

from bulksms.commands.common import done, engine_of, installation, json_option, show_one
from bulksms.environment import Installation
from shared.accounts.administration import Refused
from shared.accounts.audit_log import record
from shared.db.connection import reading
from shared.guard import Notes, release, state_of
from shared.redis_client import redis_client
from shared.sends import holding

REASON = "The database was restored, copied or lost commits: messages of this send may have been sent before."
NEXT_STEPS = (
    "If this is not the database that should send, stop the workers and start the right one. If it is:"
    " `bulksms guard release` lets new messages be sent, and holds the sends that were open, for review."
)
OPEN = text("SELECT id FROM send WHERE completed_at IS NULL AND state NOT IN ('canceled', 'completed') ORDER BY id")


@contextmanager
def notes_of(target: Installation) -> Iterator[Notes]:
    """The notes kept outside the database, in Redis and in GUARD_FILE."""
    client = redis_client(target.settings.redis_url, timeout=2)
    try:
        yield Notes(client, Path(target.settings.guard_file) if target.settings.guard_file else None)
    finally:
        client.close()


@click.group()
def guard() -> None:
    """Release a database that was restored, copied, or lost commits in a failover; until then it sends nothing.

    Messages that it shows as unsent may have been sent already.
    """


@guard.command()
@json_option
def show(as_json: bool) -> None:
    """Show whether sending is held, why, and what is known outside the database."""
    target = installation()
    with engine_of(target) as engine, reading(engine) as connection:
        state = state_of(connection)
    with notes_of(target) as notes:
        marks = {"mark in redis": notes.in_redis(state.id), "mark in file": notes.in_file(state.id)}
    shown = {"held": state.held, "reason": state.reason, "confirmed": state.confirmed, "seconds lost": state.behind}
    show_one({**shown, "mark": state.mark, **marks, "installation": state.id}, as_json)
    if state.held and not as_json:
        done(NEXT_STEPS)


@guard.command("release")
@click.option("--send-open", is_flag=True, help="Also release open sends: phones may get messages twice.")
def release_all(send_open: bool) -> None:
    """Resume sending. Each open send is held for review."""
    target = installation()
    with engine_of(target) as engine, notes_of(target) as notes, engine.begin() as connection:
        state = state_of(connection)
        if not release(connection, max(notes.in_redis(state.id), notes.in_file(state.id))):
            raise Refused("Nothing is held: this database has not lost anything, as far as is known.")
        record(connection, None, "guard.released", after={"open_sends_go_on": send_open})
        sends = [] if send_open else connection.execute(OPEN).scalars().all()
        for send in sends:
            holding.hold_for_review(connection, send, REASON)
    done("Messages are sent again.")
    if sends:
        done(
            f"{len(sends)} sends that were open are held: `bulksms send list --open` shows them. Find out from"
            " the carrier what it received of each, then run `bulksms send release` or `bulksms send cancel` for it."
        )
