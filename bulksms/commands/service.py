"""`bulksms migrate` and `bulksms up`."""

import sys
from pathlib import Path

import click

from bulksms.commands.common import console, done, engine_of, installation
from bulksms.local.up import up as run_all
from shared.db import migrate as schema


@click.command()
def migrate() -> None:
    """Migrate the database to this release's schema. Safe to repeat, also concurrently."""
    with engine_of(installation()) as engine, console().status("Migrating ..."):
        revision = schema.migrate(engine)
    done(f"The database is at revision {revision}.")


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
