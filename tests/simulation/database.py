"""The simulation's Postgres: its time is the simulation's, and it can crash.

A crash kills processes and not the machine, so what a commit has written is there afterwards whether or not it was
flushed: `fsync` plays no part. What a commit did not wait for is in memory only, and is lost.
"""

import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from shared.db.connection import make_engine
from shared.db.partitions import make_partitions
from tests.harness.servers import make_migrated_postgres

CRASHES = {"fsync": "off", "full_page_writes": "off", "wal_writer_delay": "10s", "autovacuum": "off"}
START = datetime(2030, 1, 7, 12, tzinfo=UTC)

# Names without a schema are looked up in `simulated` first, so the product's statements read the simulation's time.
SCHEMA = """
    CREATE SCHEMA simulated;
    CREATE TABLE simulated.clock (at timestamptz NOT NULL);
    INSERT INTO simulated.clock VALUES ('-infinity');
    CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT at FROM simulated.clock';
    CREATE FUNCTION simulated.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
        AS 'SELECT at FROM simulated.clock';
    CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM simulated.clock';
"""
DEFAULTS = """
    SELECT format('ALTER TABLE %I ALTER %I SET DEFAULT simulated.now()', table_name, column_name)
      FROM information_schema.columns
     WHERE table_schema = 'public' AND column_default ~ '^(now|clock_timestamp)'
"""
APPEND_ONLY = ("ledger", "audit_log")
TABLES = """
    SELECT string_agg(format('%I', relname), ', ') FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname NOT IN ('alembic_version', 'installation')
"""


class Database:
    """One server and one database on it, emptied for each run."""

    def __init__(self, folder: Path) -> None:
        self.server = make_migrated_postgres(folder, durable=True, more=CRASHES)
        engine = make_engine(self.server.start(), pool=1)
        with engine.begin() as connection:
            make_partitions(connection, START)
            connection.execute(text(SCHEMA))
            connection.execute(
                text(f"GRANT TRUNCATE ON {', '.join(APPEND_ONLY)} TO CURRENT_USER")
            )  # to empty it between runs
            for statement in connection.execute(text(DEFAULTS)).scalars().all():
                connection.execute(text(statement))
            name = make_url(self.server.url).database
            connection.execute(text(f"ALTER DATABASE {name} SET search_path = simulated, public, pg_catalog"))
            self._tables = connection.execute(text(TABLES)).scalar_one()
        engine.dispose()
        self.engine: Engine = make_engine(self.server.url)
        """The product's."""
        self.customers: Engine = make_engine(self.server.url, pool=1)
        """The customers' and operators', who always find the server again."""
        self._own = self._connect()
        self.now = START

    def close(self) -> None:
        """Stop the server."""
        self._own.close()
        self.customers.dispose()
        self.engine.dispose()
        self.server.stop("immediate")

    def reset(self) -> None:
        """Empty every table, and put the clock back to its start."""
        with self._own.transaction():
            for table in APPEND_ONLY:
                self.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            self.run(f"TRUNCATE {self._tables} RESTART IDENTITY")
            for table in APPEND_ONLY:
                self.run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        self.run("VACUUM simulated.clock")
        self.set_clock(START)

    def set_clock(self, now: datetime) -> None:
        """Let it be another time."""
        self.now = now
        self.run("UPDATE simulated.clock SET at = %s", (now,))

    def run(self, statement: str, parameters: tuple[object, ...] = ()) -> list[Any]:
        """One statement of the simulation's own. Its commit makes nothing durable that the product did not."""
        cursor = self._own.execute(statement, parameters, prepare=True)
        return cursor.fetchall() if cursor.description else []

    def crash(self, whole: bool, stale: bool) -> None:
        """Kill the server and start it again, or kill one of its backends, after which it begins anew by itself.

        With `stale` the product's pool is left with its dead connections, otherwise it finds new ones.
        """
        if whole:
            self.server.kill()
            self.server.start()
        else:
            with self._connect() as victim:
                os.kill(victim.info.backend_pid, signal.SIGKILL)
                while not self._has_died():  # the server ends its other backends when it has noticed
                    time.sleep(0.002)
        deadline = time.monotonic() + 120
        while not self.server.ready():
            assert time.monotonic() < deadline, "the database does not come back"
            time.sleep(0.005)
        self.customers.dispose()
        if not stale:
            self.engine.dispose()
        self._own.close()
        self._own = self._connect()
        self.set_clock(self.now)

    def _has_died(self) -> bool:
        try:
            self._own.execute("SELECT 1")
        except psycopg.OperationalError:
            return True
        return False

    def _connect(self) -> "psycopg.Connection[Any]":
        url = self.server.url.replace("+psycopg", "", 1)
        return psycopg.connect(url, autocommit=True, options="-c synchronous_commit=off -c jit=off")
