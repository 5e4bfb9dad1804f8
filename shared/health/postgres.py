"""Findings of `bulksms doctor` about Postgres: its version, its durability, and whether it can be written to."""

from collections.abc import Iterator

from sqlalchemy import Connection, Engine, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from shared.db.connection import driver_of, transaction
from shared.db.errors import is_disk_full
from shared.db.sessions import has_pooler
from shared.db.tables.running import lease
from shared.health.finding import Finding, first_line

MIN_POSTGRES = 150_000
REQUIRED_ON = ("fsync", "full_page_writes", "synchronous_commit")
DISK_FULL = "Free some space: the database's disk is full."

SETTING = select(func.current_setting(bindparam("setting")))
WRITE = (
    insert(lease)
    .values(name="doctor", holder="doctor", held_until=func.clock_timestamp())
    .on_conflict_do_update(index_elements=[lease.c.name], set_={"held_until": func.clock_timestamp()})
)


def check_server(connection: Connection) -> Iterator[Finding]:
    """Yield findings about the version of Postgres, its sessions, and the settings that matter in a power cut."""
    version = int(connection.execute(SETTING, {"setting": "server_version_num"}).scalar_one())
    name = f"version {version // 10_000}.{version % 10_000}"
    if version < MIN_POSTGRES:
        yield Finding("postgres", "wrong", name, "Use Postgres 15 or newer.")
    else:
        yield Finding("postgres", "ok", name)
    pooler = "through a pooler" if has_pooler(driver_of(connection)) else "directly"
    yield Finding("sessions", "ok", f"kept for each connection, {pooler}")
    values = {setting: connection.execute(SETTING, {"setting": setting}).scalar_one() for setting in REQUIRED_ON}
    off = [f"{setting} = {value}" for setting, value in values.items() if value in ("off", "local")]
    if off:
        remedy = "Set them to on in postgresql.conf and reload it: without them a power cut loses accepted sends."
        yield Finding("durability", "wrong", ", ".join(off), remedy)
    else:
        yield Finding("durability", "ok", ", ".join(f"{setting} on" for setting in REQUIRED_ON))


def check_writing(engine: Engine) -> Finding:
    """Check that the database can be written to."""
    try:
        with transaction(engine) as connection:
            connection.execute(WRITE)
    except DBAPIError as error:
        remedy = DISK_FULL if is_disk_full(error) else "Sends are refused until this works. Check the Postgres log."
        return Finding("writing", "wrong", first_line(error), remedy)
    return Finding("writing", "ok", "works")
