"""What each migration does to the tables before it, observed: `python -m tests.harness.migration_effects` stores it."""

import json
import tempfile
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import Connection, Engine, text

from shared.db.connection import make_engine
from shared.db.migrate import is_transactional, migration_config
from shared.db.migration_plan import EFFECTS, LOCKS, Effect
from shared.db.partitions import make_partitions
from shared.db.schema import revisions
from tests.harness.servers import make_postgres

TABLES = text(
    """
    SELECT c.oid, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text AS table,
           pg_relation_filenode(c.oid) AS file,
           (SELECT count(*) FROM pg_index i WHERE i.indrelid = c.oid) AS indexes
      FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
       AND c.relname <> 'alembic_version'
    """
)
HELD = text(
    """
    SELECT relation AS oid, mode FROM pg_locks
     WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation = ANY(:tables)
    """
)
SCANS = text(
    """
    SELECT t.oid, pg_stat_get_xact_numscans(t.oid)
                  + (SELECT coalesce(sum(pg_stat_get_xact_numscans(i.indexrelid)), 0)::bigint
                       FROM pg_index i WHERE i.indrelid = t.oid) AS scans
      FROM unnest(CAST(:tables AS oid[])) AS t (oid)
    """
)
"""Also those of an index, which may be read as a whole, too: by GROUP BY, for one."""


def observe(engine: Engine) -> dict[str, dict[str, Effect]]:
    """Migrate an empty database step by step. Returns the effects of each migration, by revision and table."""
    observed: dict[str, dict[str, Effect]] = {}
    for number, revision in enumerate(revisions()):
        observed[revision] = _observe_one(engine, revision)
        if not number:
            with engine.begin() as connection:
                make_partitions(connection)
    return observed


def _observe_one(engine: Engine, revision: str) -> dict[str, Effect]:
    with engine.connect() as connection:
        if not is_transactional(revision):
            connection.execution_options(isolation_level="AUTOCOMMIT")
        before = {row.oid: row for row in connection.execute(TABLES)}
        connection.execute(text("SET enable_seqscan = off"))  # what reads a table then has to, however large it is
        _upgrade(connection, revision)
        tables = {"tables": list(before)}
        held = [(row.oid, _name(row.mode)) for row in connection.execute(HELD, tables)]
        scans = {row.oid: row.scans for row in connection.execute(SCANS, tables)}
        after = {row.oid: row for row in connection.execute(TABLES)}
        connection.commit()
        connection.invalidate()
    if not is_transactional(revision):
        built = [oid for oid, row in before.items() if oid in after and after[oid].indexes > row.indexes]
        held, scans = [(oid, "SHARE UPDATE EXCLUSIVE") for oid in built], {}
    effects: dict[str, Effect] = {}
    strength = list(LOCKS)
    for oid, lock in held:
        row, new = before[oid], after.get(oid)
        known = effects.get(row.table, Effect("ACCESS SHARE"))
        effects[row.table] = Effect(
            max(known.lock, lock, key=strength.index),
            max(known.scans, scans.get(oid, 0)),
            max(known.indexes, new.indexes - row.indexes if new else 0),
            known.rewrites or (new is not None and new.file != row.file),
        )
    return {
        table: effect
        for table, effect in sorted(effects.items())
        if LOCKS[effect.lock] != "nothing" or effect.scans or effect.indexes
    }


def _upgrade(connection: Connection, revision: str) -> None:
    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _name(mode: str) -> str:
    """`AccessExclusiveLock` as SQL has it: ACCESS EXCLUSIVE."""
    spaced = "".join(f" {letter}" if letter.isupper() else letter for letter in mode.removesuffix("Lock"))
    return spaced.strip().upper()


def as_json(observed: dict[str, dict[str, Effect]]) -> str:
    """The effects as they are stored: one line for each table, without values that are false or zero."""
    lines = []
    for revision, tables in observed.items():
        of_table = [f"    {json.dumps(table)}: {json.dumps(_shown(effect))}" for table, effect in tables.items()]
        lines.append(f"  {json.dumps(revision)}: {{" + ("\n" + ",\n".join(of_table) + "\n  }" if of_table else "}"))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _shown(effect: Effect) -> dict[str, Any]:
    return {name: value for name, value in effect._asdict().items() if value}


def main() -> None:
    """Observe all migrations and store what they do."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with make_postgres(Path(folder), durable=False) as server:
            engine = make_engine(server.start(), pool=1)
            EFFECTS.write_text(as_json(observe(engine)))
            engine.dispose()


if __name__ == "__main__":
    main()
