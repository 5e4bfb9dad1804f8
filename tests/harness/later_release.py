"""The migrations of a later release, to migrate from this one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import shared.db.migrate
import shared.db.migration_plan
import shared.db.schema
from shared.db.migration_plan import Effect
from shared.db.schema import MIGRATIONS, head, revisions
from tests.harness.migration_effects import as_json

MIGRATION = '''"""{title}."""

from alembic import op

from shared.db.concurrent_index import build_index

revision = "{revision}"
down_revision = "{before}"
compatible = {compatible}
transactional = {transactional}


def upgrade() -> None:
    {statement}
'''


class LaterRelease(NamedTuple):
    """The revisions of its migrations, which follow this release's."""

    column: str
    """Adds a column to `send`; running code can go on."""
    concurrent_index: str
    """Builds an index of `message` step by step; running code can go on."""
    index: str
    """Builds an index of `ledger` in a transaction; running code cannot go on."""


STATEMENTS = (
    'op.execute("ALTER TABLE send ADD COLUMN later text")',
    'build_index(op.get_bind(), "message", "ix_later", "(status)")',
    'op.execute("CREATE INDEX ix_later_ledger ON ledger (kind)")',
)


EFFECTS = (
    {"send": Effect("ACCESS EXCLUSIVE")},
    {"message": Effect("SHARE UPDATE EXCLUSIVE", indexes=1)},
    {"ledger": Effect("SHARE", scans=1, indexes=1)},
)
"""What each does to a table."""


@contextmanager
def later_release(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[LaterRelease]:
    """Have this process run the code of a later release with three more migrations, until the end of the block."""
    shutil.copytree(MIGRATIONS, folder / "migrations")
    line = [head()]
    for number, statement in enumerate(STATEMENTS):
        line.append(f"{int(line[-1]) + 1:04d}")
        text = MIGRATION.format(
            title=f"Migration {line[-1]} of a later release",
            revision=line[-1],
            before=line[-2],
            compatible=number != 2,
            transactional=number != 1,
            statement=statement,
        )
        (folder / "migrations" / "versions" / f"{line[-1]}_later.py").write_text(text)
    (folder / "migrations" / "effects.json").write_text(as_json(dict(zip(line[1:], EFFECTS, strict=True))))
    with patch.context() as patched:
        for module in (shared.db.migrate, shared.db.schema):
            patched.setattr(module, "MIGRATIONS", folder / "migrations")
        patched.setattr(shared.db.migration_plan, "EFFECTS", folder / "migrations" / "effects.json")
        _forget()
        yield LaterRelease(*line[1:])
    _forget()


def _forget() -> None:
    revisions.cache_clear()
    shared.db.migration_plan.effects.cache_clear()
