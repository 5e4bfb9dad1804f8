"""`bulksms guard`."""

from pathlib import Path

import click
from redis import Redis
from sqlalchemy import text

from bulksms.commands.common import done, engine_of, installation, json_option, show_one
from shared import holding
from shared.accounts import Refused
from shared.changes import record
from shared.database import reading
from shared.guard import Guard, release, state_of

REASON = "The database was restored: messages of this send may have been sent before."
OPEN = text(
    """
    SELECT id FROM send WHERE completed_at IS NULL AND state NOT IN ('held', 'canceled', 'completed') ORDER BY id
    """
)


@click.group()
def guard() -> None:
    """A database that went back in time sends nothing: what it takes for unsent may have been sent already."""


@guard.command()
@json_option
def show(as_json: bool) -> None:
    """Show whether sending is held."""
    with engine_of(installation()) as engine, reading(engine) as connection:
        state = state_of(connection)
    show_one({"held": state.held, "seconds lost": state.behind, "mark": state.mark, "installation": state.id}, as_json)


@guard.command("release")
@click.option("--send-open", is_flag=True, help="Also go on with the sends that were open: phones may get them twice.")
def release_all(send_open: bool) -> None:
    """Send again after a restore. Sends that were open are held one by one, to be looked at."""
    found = installation()
    with engine_of(found) as engine, engine.begin() as connection:
        client = Redis.from_url(found.settings.redis_url, socket_timeout=2, socket_connect_timeout=2)
        file = found.settings.guard_file
        outside = Guard(engine, client, Path(file) if file else None).outside(state_of(connection).id)
        client.close()
        if not release(connection, outside):
            raise Refused("Nothing is held: this database did not go back in time.")
        record(connection, None, "guard.released", after={"open_sends_go_on": send_open})
        sends = [] if send_open else connection.execute(OPEN).scalars().all()
        for send in sends:
            holding.hold(connection, send, REASON)
    done("Messages are sent again.")
    if sends:
        done(
            f"{len(sends)} sends that were open are held: `bulksms send list --open` shows them. What the carrier had"
            " of them is in its own report; then `bulksms send release` or `bulksms send cancel` each."
        )
