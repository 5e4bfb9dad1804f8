"""What migrations lock: as it is stored, as an operator sees it, and never for long where it would stop the service."""

import json
import threading
import time
from collections.abc import Iterator
from itertools import product
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from click.testing import CliRunner
from psycopg.errors import LockNotAvailable
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, Engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

import shared.db.migrate
from bulksms.cli import main
from bulksms.local.postgres import Postgres
from shared.db.concurrent_index import build_index
from shared.db.connection import make_engine
from shared.db.migrate import migrate, migration_config, module_of, oldest_code
from shared.db.migration_plan import LOCKS, Effect, effects, plan
from shared.db.partitions import make_partitions
from shared.db.schema import current, head, revisions
from tests.harness.migration_effects import observe

pytestmark = pytest.mark.slow
FIRST_GUARDED = "0040"
IDLE = TransactionStatus.IDLE
LARGE = {"message", "ledger", "batch", "send"}
SECRET_KEY = "a-secret-key-of-the-tests-own-0123456789"
GRANTS = text(
    """
    SELECT grantee, table_name, privilege_type FROM information_schema.role_table_grants
     WHERE grantee IN ('PUBLIC', 'pg_monitor') AND table_schema = 'public' ORDER BY 1, 2, 3
    """
)


@pytest.fixture
def empty(postgres_server: Postgres) -> Iterator[Engine]:
    """A database without tables."""
    admin = make_engine(postgres_server.url, pool=1)
    name = f"empty_{uuid4().hex}"
    with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    engine = make_engine(make_url(postgres_server.url).set(database=name).render_as_string(hide_password=False))
    yield engine
    engine.dispose()


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


def test_it_works(empty: Engine) -> None:
    assert "The database is empty" in run(empty, "migrate", "--plan")
    migrated_to(empty, "0024")
    with empty.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO message (id, phone, submitted_at, status, price, attempts)"
                " SELECT gen_random_uuid(), 1, now(), 'sent', 1, 1 FROM generate_series(1, 1000)"
            )
        )
    rows = json.loads(run(empty, "migrate", "--plan", "--json"))
    assert [row["revision"] for row in rows] == sorted(row["revision"] for row in rows)
    assert {row["revision"] for row in rows} == {each for each in revisions() if each > "0024"}
    [index] = [row for row in rows if (row["revision"], row["table"]) == ("0025", "message")]
    assert (index["lock"], index["others_wait_for"], index["work"]) == ("SHARE", "writes", "builds an index")
    assert "Stop them before you migrate" in run(empty, "migrate", "--plan")
    with empty.connect() as connection:
        assert current(connection) == "0024", "a plan changes nothing"
        [step] = [each for each in plan(connection) if (each.revision, each.table) == ("0025", "message")]
        assert step.size > 100_000, "the partitions of a table are counted"
    migrate(empty)
    assert "Nothing is outstanding" in run(empty, "migrate", "--plan")
    assert json.loads(run(empty, "migrate", "--plan", "--json")) == []


def test_the_stored_effects_are_those_that_are_observed(empty: Engine) -> None:
    assert effects() == observe(empty), "Run python -m tests.harness.migration_effects"


def too_long(effect: Effect) -> bool:
    """Whether a lock is held while the table is read or written."""
    works = effect.scans or effect.indexes or effect.rewrites
    return bool(works) and LOCKS[effect.lock] != "nothing"


def test_no_new_migration_stops_the_service() -> None:
    for revision in [each for each in revisions() if each >= FIRST_GUARDED]:
        for table in LARGE & effects()[revision].keys():
            assert not too_long(effects()[revision][table]), f"{revision} locks {table} while it works on all its rows"


@pytest.mark.parametrize(("revision", "table"), [("0002", "send"), ("0009", "sender_id"), ("0022", "ledger")])
def test_a_migration_that_stops_the_service_is_noticed(revision: str, table: str) -> None:
    assert too_long(effects()[revision][table])


def test_each_new_migration_says_whether_running_code_can_go_on() -> None:
    for revision in [each for each in revisions() if each >= FIRST_GUARDED]:
        assert isinstance(getattr(module_of(revision), "compatible", None), bool), revision
    with_notes = [each for each in revisions() if each >= FIRST_GUARDED]
    assert oldest_code(with_notes[0]) == with_notes[0]


def test_a_database_notes_the_oldest_code_that_can_use_it(empty: Engine) -> None:
    migrate(empty)
    with empty.connect() as connection:
        oldest = connection.execute(text("SELECT oldest_code FROM compatibility")).scalar_one()
    assert oldest == oldest_code(head())


def test_the_time_of_a_change_grows_with_its_table() -> None:
    brief = Effect("ACCESS EXCLUSIVE").seconds(10**12)
    assert brief < 1 < Effect("SHARE", scans=1, indexes=1).seconds(10**10)
    assert Effect("ACCESS EXCLUSIVE", scans=1).seconds(10**10) < Effect("SHARE", 1, 1).seconds(10**10)
    assert Effect("ROW EXCLUSIVE").seconds(10**12) == brief
    assert Effect("ROW EXCLUSIVE", scans=1).seconds(10**10) > Effect("ACCESS EXCLUSIVE", scans=1).seconds(10**10)


def test_a_migration_gives_way_and_tries_again(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared.db.migrate, "LOCK_SECONDS", 0.2)
    monkeypatch.setattr(shared.db.migrate, "PAUSE_SECONDS", 0.2)
    before = revisions()[revisions().index(FIRST_GUARDED) - 1]
    migrated_to(empty, before)
    reached: list[str] = []
    migrating = threading.Thread(target=lambda: reached.append(migrate(empty)))
    with empty.connect() as busy, empty.connect() as other:
        busy.execute(text("LOCK TABLE send IN ROW EXCLUSIVE MODE"))
        migrating.start()
        for _ in range(10):  # whoever comes after the migration waits for it, and then goes on
            other.execute(text("SELECT count(*) FROM send"))
            other.rollback()
            time.sleep(0.05)
        assert migrating.is_alive() and current(other) == before
        busy.rollback()
    migrating.join(120)
    assert reached == [head()]


def test_a_migration_that_meets_a_deadlock_tries_again(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared.db.migrate, "PAUSE_SECONDS", 0.2)
    migrated_to(empty, revisions()[-2])
    real = command.upgrade
    tries: list[str] = []

    def upgrade(config: Config, revision: str) -> None:
        tries.append(revision)
        if len(tries) == 1:  # whom of the two Postgres ends is a matter of time
            config.attributes["connection"].execute(text("DO 'BEGIN RAISE deadlock_detected; END'"))
        real(config, revision)

    monkeypatch.setattr(command, "upgrade", upgrade)
    assert (migrate(empty), tries) == (head(), [head(), head()])


def test_views_with_previous_names_have_the_grants_of_their_tables(empty: Engine) -> None:
    migrated_to(empty, "0054")
    roles, tables = ("PUBLIC", "pg_monitor"), ("audit_log", "change", "import_chunk", "import_piece")
    with empty.begin() as connection:
        for role in roles:
            connection.execute(text(f"GRANT SELECT, INSERT ON change, import_piece TO {role}"))
    migrate(empty)
    with empty.connect() as connection:
        granted = [tuple(row) for row in connection.execute(GRANTS)]
    assert granted == [(*each, privilege) for each in product(roles, tables) for privilege in ("INSERT", "SELECT")]


def test_a_migration_may_be_one_of_steps(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that builds an index concurrently, which no transaction may contain."""
    before = revisions()[revisions().index(FIRST_GUARDED) - 1]
    migrated_to(empty, before)
    in_transaction: list[bool] = []
    real = command.upgrade

    def upgrade(config: Config, revision: str) -> None:
        real(config, revision)
        connection: Connection = config.attributes["connection"]
        in_transaction.append(connection.connection.dbapi_connection.info.transaction_status != IDLE)  # type: ignore[union-attr]

    monkeypatch.setattr(command, "upgrade", upgrade)
    monkeypatch.setattr(shared.db.migrate, "is_transactional", lambda revision: revision != FIRST_GUARDED)
    assert migrate(empty) == head()
    assert in_transaction[0] is False and all(in_transaction[1:])


def test_a_migration_waits_only_so_long_for_a_lock(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOCK_SECONDS", "PAUSE_SECONDS", "PATIENCE_SECONDS"):
        monkeypatch.setattr(shared.db.migrate, name, 0.1)
    before = revisions()[revisions().index(FIRST_GUARDED) - 1]
    migrated_to(empty, before)
    with empty.connect() as busy:
        busy.execute(text("LOCK TABLE send IN ROW EXCLUSIVE MODE"))
        with pytest.raises(LockNotAvailable):
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
