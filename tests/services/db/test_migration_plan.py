"""What migrations lock: as it is stored, as an operator sees it, and never for long where it would stop the service."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from click.testing import CliRunner
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

import shared.db.migrate
from bulksms.cli import main
from shared.db.concurrent_index import build_index
from shared.db.migrate import migrate, migration_config, module_of, oldest_code
from shared.db.migration_plan import LOCKS, Effect, effects, plan
from shared.db.partitions import make_partitions
from shared.db.schema import current, head, revisions
from tests.harness.later_release import EFFECTS, LaterRelease, later_release
from tests.harness.migration_effects import observe

pytestmark = pytest.mark.slow
IDLE = TransactionStatus.IDLE
BEFORE = head()
LARGE = {"message", "ledger", "batch", "send"}
SECRET_KEY = "a-secret-key-of-the-tests-own-0123456789"


def migrated_to(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        config = migration_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        make_partitions(connection)


def run(engine: Engine, *arguments: str) -> str:
    url = engine.url.render_as_string(hide_password=False)
    env = {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1", "SECRET_KEY": SECRET_KEY}
    result = CliRunner().invoke(main, list(arguments), env=env)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty: Engine) -> Iterator[LaterRelease]:
    """A later release, and a database that this one has migrated."""
    migrate(empty)
    with later_release(tmp_path, monkeypatch) as made:
        yield made


def test_it_works(empty: Engine, later: LaterRelease) -> None:
    with empty.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO message (id, phone, submitted_at, status, price, attempts)"
                " SELECT gen_random_uuid(), 1, now(), 'sent', 1, 1 FROM generate_series(1, 1000)"
            )
        )
    rows = json.loads(run(empty, "migrate", "--plan", "--json"))
    tables = [(revision, table) for revision, effect in zip(later, EFFECTS, strict=True) for table in effect]
    assert [(row["revision"], row["table"]) for row in rows] == tables
    assert (rows[2]["lock"], rows[2]["others_wait_for"], rows[2]["work"]) == ("SHARE", "writes", "builds an index")
    assert "Stop them before you migrate" in run(empty, "migrate", "--plan")
    with empty.connect() as connection:
        assert current(connection) == BEFORE, "a plan changes nothing"
        assert plan(connection)[1].size > 100_000, "the partitions of a table are counted"
    migrate(empty)
    assert "Nothing is outstanding" in run(empty, "migrate", "--plan")
    assert json.loads(run(empty, "migrate", "--plan", "--json")) == []


def test_an_empty_database_has_no_plan(empty: Engine) -> None:
    assert "The database is empty" in run(empty, "migrate", "--plan")


def test_the_stored_effects_are_those_that_are_observed(empty: Engine) -> None:
    assert effects() == observe(empty), "Run python -m tests.harness.migration_effects"


def works(effect: Effect) -> bool:
    """Whether it takes the longer, the larger the table is."""
    return bool(effect.scans or effect.indexes or effect.rewrites)


def test_no_migration_stops_the_service() -> None:
    """Whichever table it works on: its locks are held until its end. There are few accounts."""
    for revision in revisions()[1:]:
        of = effects()[revision]
        locked = {table for table in LARGE & of.keys() if LOCKS[of[table].lock] != "nothing"}
        slow = {table for table in of.keys() - {"account"} if works(of[table])}
        assert not (locked and slow), f"{revision} locks {locked} while it works on all rows of {slow}"


def test_each_migration_says_whether_running_code_can_go_on() -> None:
    for revision in revisions()[1:]:
        assert isinstance(getattr(module_of(revision), "compatible", None), bool), revision


def test_a_database_notes_the_oldest_code_that_can_use_it(empty: Engine, later: LaterRelease) -> None:
    for revision, oldest in ((later.concurrent_index, oldest_code(BEFORE)), (later.index, later.index)):
        migrated_to(empty, revision)
        assert oldest_code(revision) == oldest
    migrate(empty)
    with empty.connect() as connection:
        assert connection.execute(text("SELECT oldest_code FROM compatibility")).scalar_one() == oldest_code(BEFORE)


def test_the_time_of_a_change_grows_with_its_table() -> None:
    brief = Effect("ACCESS EXCLUSIVE").seconds(10**12)
    assert brief < 1 < Effect("SHARE", scans=1, indexes=1).seconds(10**10)
    assert Effect("ACCESS EXCLUSIVE", scans=1).seconds(10**10) < Effect("SHARE", 1, 1).seconds(10**10)
    assert Effect("ROW EXCLUSIVE").seconds(10**12) == brief
    assert Effect("ROW EXCLUSIVE", scans=1).seconds(10**10) > Effect("ACCESS EXCLUSIVE", scans=1).seconds(10**10)


def test_a_migration_gives_way_and_tries_again(
    empty: Engine, later: LaterRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared.db.migrate, "LOCK_SECONDS", 0.2)
    monkeypatch.setattr(shared.db.migrate, "PAUSE_SECONDS", 0.2)
    reached: list[str] = []
    migrating = threading.Thread(target=lambda: reached.append(migrate(empty)))
    with empty.connect() as busy, empty.connect() as other:
        busy.execute(text("LOCK TABLE send IN ROW EXCLUSIVE MODE"))
        migrating.start()
        for _ in range(10):  # whoever comes after the migration waits for it, and then goes on
            other.execute(text("SELECT count(*) FROM send"))
            other.rollback()
            time.sleep(0.05)
        assert migrating.is_alive() and current(other) == BEFORE
        busy.rollback()
    migrating.join(120)
    assert reached == [head()]


def test_a_migration_that_meets_a_deadlock_tries_again(
    empty: Engine, later: LaterRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared.db.migrate, "PAUSE_SECONDS", 0.2)
    migrated_to(empty, later.concurrent_index)
    real = command.upgrade
    tries: list[str] = []

    def upgrade(config: Config, revision: str) -> None:
        tries.append(revision)
        if len(tries) == 1:  # whom of the two Postgres ends is a matter of time
            config.attributes["connection"].execute(text("DO 'BEGIN RAISE deadlock_detected; END'"))
        real(config, revision)

    monkeypatch.setattr(command, "upgrade", upgrade)
    assert (migrate(empty), tries) == (head(), [head(), head()])


def test_a_migration_may_be_one_of_steps(empty: Engine, later: LaterRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that builds an index concurrently, which no transaction may contain."""
    in_transaction: list[bool] = []
    real = command.upgrade

    def upgrade(config: Config, revision: str) -> None:
        real(config, revision)
        connection: Connection = config.attributes["connection"]
        in_transaction.append(connection.connection.dbapi_connection.info.transaction_status != IDLE)  # type: ignore[union-attr]

    monkeypatch.setattr(command, "upgrade", upgrade)
    assert migrate(empty) == later.index
    assert in_transaction == [True, False, True]


def test_a_migration_waits_only_so_long_for_a_lock(
    empty: Engine, later: LaterRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOCK_SECONDS", "PAUSE_SECONDS", "PATIENCE_SECONDS"):
        monkeypatch.setattr(shared.db.migrate, name, 0.1)
    with empty.connect() as busy:
        busy.execute(text("LOCK TABLE send IN ROW EXCLUSIVE MODE"))
        with pytest.raises(OperationalError):
            migrate(empty)
    assert migrate(empty) == head(), "and it has left nothing that would be in the way"


def invalid_indexes(connection: Connection) -> int:
    return int(connection.execute(text("SELECT count(*) FROM pg_index WHERE NOT indisvalid")).scalar_one())


@pytest.mark.parametrize("table", ["message", "send"])
def test_an_index_is_built_while_others_write(empty: Engine, table: str) -> None:
    migrate(empty)
    columns = {"message": "(phone)", "send": "(reference) WHERE reference IS NOT NULL"}
    locks = text(
        "SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND granted AND locktype = 'relation'"
        " AND relation = CAST(:table AS regclass) AND mode IN ('ShareLock', 'AccessExclusiveLock')"
    )
    with empty.connect() as writer, empty.connect() as builder:
        writer.execute(text(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE"))
        builder.execution_options(isolation_level="AUTOCOMMIT")
        partition = "message_default" if table == "message" else table
        builder.execute(text("SET lock_timeout = '300ms'"))
        with pytest.raises(OperationalError):  # it waits for the writer, which does not wait for it
            build_index(builder, partition, "ix_slow", columns[table])
        assert not writer.execute(locks, {"table": partition}).scalar_one()
        writer.rollback()
        assert invalid_indexes(writer)
        writer.rollback()
        builder.execute(text("SET lock_timeout = 0"))
        build_index(builder, partition, "ix_slow", columns[table])
        assert not invalid_indexes(builder), "what was interrupted is built again"
        build_index(builder, table, "ix_new", columns[table])
        build_index(builder, table, "ix_new", columns[table])
        assert not invalid_indexes(builder), "every partition has its part"
