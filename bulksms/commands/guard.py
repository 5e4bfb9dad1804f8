"""`bulksms guard`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from bulksms.environment import Installation, engine_of, installation
from bulksms.output import done, json_option, messages, show_one
from shared.db.connection import reading
from shared.guard import Notes, state_of
from shared.plurals import counted
from shared.redis_client import redis_client
from shared.sends.guard_release import release_guard

NEXT_STEPS = (
    "If this is not the database that should send, stop the workers and start the right one. If it is:"
    " `bulksms guard release` lets new messages be sent, and holds the sends that were open, for review."
)
REMINDER = (
    "After a restore, opt-outs, revoked keys, suspensions and other changes since the backup are lost:"
    " docs/operating/backup.md says how to find them."
)


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
        marks = {"mark_in_redis": notes.in_redis(state.id), "mark_in_file": notes.in_file(state.id)}
    shown = {"held": state.held, "reason": state.reason, "confirmed": state.confirmed, "seconds_lost": state.behind}
    show_one({**shown, "mark": state.mark, **marks, "installation": state.id}, as_json)
    if state.held and not as_json:
        messages().print(f"[yellow]![/yellow] {NEXT_STEPS}")


@guard.command("release")
@click.option("--send-open", is_flag=True, help="Also release open sends: recipients may get messages twice.")
def release_all(send_open: bool) -> None:
    """Resume sending. Each open send is held for review."""
    target = installation()
    with engine_of(target) as engine, notes_of(target) as notes, engine.begin() as connection:
        sends = release_guard(connection, notes, send_open=send_open)
    done("Sending has resumed.")
    messages().print(f"[yellow]![/yellow] {REMINDER}")
    if sends:
        done(
            f"{counted(len(sends), 'send that was open is held', 'sends that were open are held')}: `bulksms send list"
            " --open` shows them. Find out from the carrier what it received of each, then run `bulksms send release`"
            " or `bulksms send cancel` for it."
        )
