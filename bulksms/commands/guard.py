"""`bulksms guard`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.markup import escape

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
UNKNOWN = (
    "{place}: {problem}. The mark there is not known. If it is higher than the database's, sending is held again when a"
    " worker reads it. Release it again then."
)


@contextmanager
def notes_of(target: Installation) -> Iterator[Notes]:
    """The notes kept outside the database, in Redis and in GUARD_FILE."""
    client = redis_client(target.settings.redis_url, timeout=2)
    try:
        yield Notes(client, target.settings.guard_file)
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
        noted = {"redis": notes.in_redis(state.id), "file": notes.in_file(state.id)}
    shown: dict[str, Any] = {"held": state.held, "reason": state.reason, "confirmed": state.confirmed}
    shown |= {"seconds_lost": state.behind, "mark": state.mark}
    for place, note in noted.items():
        shown[f"mark_in_{place}"] = note.mark if as_json or note.mark is not None else note.problem
        if as_json:
            shown[f"{place}_problem"] = note.problem or None
    show_one({**shown, "installation": state.id}, as_json)
    if state.held and not as_json:
        messages().print(f"[yellow]![/yellow] {NEXT_STEPS}")


@guard.command("release")
@click.option("--send-open", is_flag=True, help="Also release open sends: recipients may get messages twice.")
def release_all(send_open: bool) -> None:
    """Resume sending. Each open send is held for review."""
    target = installation()
    with engine_of(target) as engine, notes_of(target) as notes, engine.begin() as connection:
        installation_id = state_of(connection).id
        problems = {"Redis": notes.in_redis(installation_id).problem}
        if target.settings.guard_file:
            problems[f"GUARD_FILE={target.settings.guard_file}"] = notes.in_file(installation_id).problem
        sends = release_guard(connection, notes, send_open=send_open)
    done("Sending has resumed.")
    for place, problem in problems.items():
        if problem:
            messages().print(f"[yellow]![/yellow] {UNKNOWN.format(place=escape(place), problem=escape(problem))}")
    messages().print(f"[yellow]![/yellow] {REMINDER}")
    if sends:
        done(
            f"{counted(len(sends), 'send that was open is held', 'sends that were open are held')}: `bulksms send list"
            " --open` shows them. Find out from the carrier what it received of each, then run `bulksms send release`"
            " or `bulksms send cancel` for it."
        )
