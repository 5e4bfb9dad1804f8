"""What outstanding migrations lock, and for about how long.

`migrations/effects.json` says what each migration does to the tables that exist before it. It is observed, not
declared: a test runs every migration and compares. The sizes are those of the database.
"""

import json
from functools import cache
from typing import NamedTuple

from sqlalchemy import Connection, text

from shared.db.migrate import module_of
from shared.db.schema import MIGRATIONS, current, revisions

EFFECTS = MIGRATIONS / "effects.json"

LOCKS = {
    "ACCESS SHARE": "nothing",
    "ROW SHARE": "nothing",
    "ROW EXCLUSIVE": "changes of the same rows",
    "SHARE UPDATE EXCLUSIVE": "nothing",
    "SHARE": "writes",
    "SHARE ROW EXCLUSIVE": "writes",
    "EXCLUSIVE": "writes",
    "ACCESS EXCLUSIVE": "everything",
}
"""What each lock keeps others from doing, from the weakest to the strongest (PostgreSQL documentation, 13.3)."""

SCAN_RATE, INDEX_RATE, REWRITE_RATE = 200e6, 50e6, 25e6
"""Bytes of a table per second, on a modest disk."""
BRIEF_SECONDS = 0.1
"""What a migration that changes only the catalogue takes."""

SIZE = text(
    """
    SELECT coalesce(sum(pg_total_relation_size(t.relid)), 0)::bigint
      FROM pg_partition_tree(to_regclass(:table)) t
    """
)
"""A function of Postgres' own that returns rows."""


class Effect(NamedTuple):
    """What a migration does to one table."""

    lock: str
    """The strongest lock that it takes and keeps until its end."""
    scans: int = 0
    """How often it reads the whole table."""
    indexes: int = 0
    """How many indexes it builds."""
    rewrites: bool = False
    """Whether it rewrites the whole table."""

    def seconds(self, size: int) -> float:
        """About how long it takes for a table of `size` bytes."""
        scanning = max(0, self.scans - self.indexes) * size / SCAN_RATE
        changing = self.scans > 0 and self.lock == "ROW EXCLUSIVE"
        rewriting = size / REWRITE_RATE if self.rewrites or changing else 0.0
        return BRIEF_SECONDS + scanning + rewriting + self.indexes * size / INDEX_RATE


class Step(NamedTuple):
    """What an outstanding migration does to one table of this database; `table` is None if it only adds new ones."""

    revision: str
    title: str
    table: str | None
    effect: Effect | None
    size: int
    """Bytes, with indexes."""
    seconds: float


@cache
def effects() -> dict[str, dict[str, Effect]]:
    """The effects of each migration, by revision and table."""
    stored = json.loads(EFFECTS.read_text())
    return {revision: {name: Effect(**each) for name, each in of.items()} for revision, of in stored.items()}


def plan(connection: Connection) -> list[Step]:
    """The steps of every outstanding migration, in order."""
    done = current(connection)
    return [
        step
        for revision in revisions()
        if done is not None and revision > done
        for step in _steps(connection, revision)
    ]


def _steps(connection: Connection, revision: str) -> list[Step]:
    title = (module_of(revision).__doc__ or "").strip().partition("\n")[0]
    tables = effects().get(revision, {})
    if not tables:
        return [Step(revision, title, None, None, 0, BRIEF_SECONDS)]
    steps = []
    for table, effect in tables.items():
        size: int = connection.execute(SIZE, {"table": table}).scalar_one()
        steps.append(Step(revision, title, table, effect, size, effect.seconds(size)))
    return steps


def work_of(effect: Effect) -> str:
    """What takes time in an effect, in words."""
    if effect.rewrites:
        return "rewrites the table"
    if effect.indexes:
        return "builds an index" if effect.indexes == 1 else f"builds {effect.indexes} indexes"
    if effect.scans:
        return "changes rows" if effect.lock == "ROW EXCLUSIVE" else "reads the table"
    return "adds or changes rows" if effect.lock == "ROW EXCLUSIVE" else "changes the catalogue only"
