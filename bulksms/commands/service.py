"""`bulksms migrate` and `bulksms up`."""

import sys
from pathlib import Path

import click

from bulksms.environment import engine_of, installation
from bulksms.local.up import up as run_all
from bulksms.output import console, done, json_option, messages, show_rows
from shared.db import migrate as schema
from shared.db import migration_plan
from shared.db.connection import reading
from shared.db.migrate import oldest_code
from shared.db.schema import current, head

STOP_FIRST = (
    "Processes of the running release cannot use the new schema. Stop them before you migrate, and start this release"
    " afterwards."
)


@click.command()
@click.option("--plan", is_flag=True, help="Change nothing: show what would be locked, and for about how long.")
@json_option
def migrate(plan: bool, as_json: bool) -> None:
    """Migrate the database to this release's schema. Safe to repeat, also concurrently.

    Processes of the previous release can keep running meanwhile, and afterwards too if `--plan` says so.
    """
    if plan:
        _show_plan(as_json)
        return
    with engine_of(installation()) as engine, console().status("Migrating ..."):
        revision = schema.migrate(engine)
    done(f"The database is at revision {revision}.")


def _show_plan(as_json: bool) -> None:
    with engine_of(installation()) as engine, reading(engine) as connection:
        steps, revision = migration_plan.plan(connection), current(connection)
    rows = [
        {
            "revision": step.revision,
            "change": step.title,
            "table": step.table,
            "lock": step.effect and step.effect.lock,
            "others_wait_for": step.effect and migration_plan.LOCKS[step.effect.lock],
            "work": migration_plan.work_of(step.effect) if step.effect else "creates tables",
            "table_mb": round(step.size / 1e6),
            "seconds": round(step.seconds, 1),
        }
        for step in steps
    ]
    if revision is None:
        empty = "The database is empty: nothing can be locked."
    else:
        empty = f"Nothing is outstanding: the database is at revision {revision}."
    show_rows(rows, as_json, "Outstanding migrations", empty)
    if rows and not as_json and revision is not None:
        can_go_on = oldest_code(head()) <= revision
        messages().print("Processes of the running release can keep running afterwards." if can_go_on else STOP_FIRST)


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8000, envvar="PORT", show_default=True, show_envvar=True)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Worker processes.")
@click.option(
    "--carrier",
    type=click.Choice(["simulator", "smpp"]),
    default="simulator",
    show_default=True,
    help="Simulated within the workers, or a separate SMSC over SMPP.",
)
@click.option(
    "--console-port", type=click.IntRange(1, 65535), envvar="CONSOLE_PORT", show_envvar=True, help="Default: PORT + 1."
)
def up(port: int, workers: int, carrier: str, console_port: int | None) -> None:
    """Run the whole service in this folder: Postgres, Redis, API, console and workers. Data is kept in var/."""
    sys.exit(run_all(Path.cwd(), port, workers, carrier, console_port))
