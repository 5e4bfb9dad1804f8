"""The migrations make the schema that the code was written for, once, whoever asks for it and how often."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Connection, Engine, inspect, text

import shared.db.migrate
from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine
from shared.db.migrate import migrate
from shared.db.partitions import make_partitions, weeks_of_messages
from shared.db.schema import WrongSchema, current, head, revisions, schema_problem
from shared.ids import first_id_at
from shared.lifecycle import BatchState, MessageStatus, SendState
from shared.startup import wait_for_database
from tests.harness.database import fresh_database
from tests.harness.declared_tables import metadata

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Can't validate argument 'dialect_options'")]
"""SQLAlchemy says so when it reflects a constraint that is NOT VALID."""
PARTITIONS = text(
    """
    SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'message'::regclass
     ORDER BY c.relname
    """
)


@pytest.fixture
def migrated(postgres_server: Postgres) -> Iterator[Engine]:
    """A database of this test's own, to be spoiled."""
    engine = fresh_database(postgres_server)
    yield engine
    engine.dispose()


def is_ours(thing: Any, name: str | None, kind: str, reflected: bool, other: Any) -> bool:
    """Whether the metadata should know of it: partitions are made as time goes by."""
    table = name if kind == "table" else thing.table.name if hasattr(thing, "table") and thing.table is not None else ""
    return not str(table).startswith("message_") and table != "alembic_version"


def differences(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "include_object": is_ours}
        )
        return [*compare_metadata(context, metadata), *other_keys(connection)]


def other_keys(connection: Connection) -> list[str]:
    """Tables whose primary key is another one, which Alembic does not compare."""
    inspector, tables = inspect(connection), metadata.tables.values()
    keys = {each.name: inspector.get_pk_constraint(each.name)["constrained_columns"] for each in tables}
    return [each.name for each in tables if keys[each.name] != [column.name for column in each.primary_key]]


def everything(engine: Engine) -> set[tuple[str, ...]]:
    """Every column, constraint, index, trigger and function of the database."""
    statements = (
        "SELECT table_name, column_name, data_type, coalesce(column_default, ''), is_nullable"
        " FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid <> 0",
        "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT tgrelid::regclass::text, tgname, tgenabled::text FROM pg_trigger",
        "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    )
    with engine.connect() as connection:
        return {tuple(map(str, row)) for statement in statements for row in connection.execute(text(statement))}


def test_it_works(empty: Engine) -> None:
    assert schema_problem(empty) == "The database is not migrated. Run `bulksms migrate`."
    assert migrate(empty) == head()
    assert schema_problem(empty) is None
    wait_for_database(empty, seconds=0)


def test_migrations_have_no_statement_timeout(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts = []
    real = command.upgrade

    def upgrade(config: Config, revision: str) -> None:
        real(config, revision)
        timeouts.append(config.attributes["connection"].execute(text("SHOW statement_timeout")).scalar_one())

    monkeypatch.setattr(command, "upgrade", upgrade)
    migrate(empty)
    assert timeouts == ["0"]


def test_the_revisions_are_one_line() -> None:
    script = ScriptDirectory.from_config(shared.db.migrate.migration_config())
    assert len(script.get_heads()) == 1
    line = list(script.walk_revisions())[::-1]
    assert [script.down_revision for script in line] == [None, *(script.revision for script in line[:-1])]
    assert [script.revision for script in line] == [f"{number:04d}" for number in range(1, len(line) + 1)]
    assert [script.revision for script in line] == list(revisions())
    assert script.get_current_head() == head()


def test_the_tables_are_those_that_the_code_declares(migrated: Engine) -> None:
    assert differences(migrated) == []


@pytest.mark.parametrize(
    ("name", "states"), [("message_status", MessageStatus), ("send_state", SendState), ("batch_state", BatchState)]
)
def test_the_enums_have_the_values_of_the_code_in_its_order(migrated: Engine, name: str, states: type[StrEnum]) -> None:
    with migrated.connect() as connection:
        values = connection.execute(
            text(
                "SELECT enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid WHERE typname = :name"
                " ORDER BY enumsortorder"
            ),
            {"name": name},
        )
        assert list(values.scalars()) == [state.value for state in states]


def test_the_checks_are_those_that_the_code_declares(migrated: Engine) -> None:
    declared = {
        str(constraint.name)
        for table in metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }
    with migrated.connect() as connection:
        checks = text("SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0")
        assert set(connection.execute(checks).scalars()) == declared


def test_migrating_again_changes_nothing(migrated: Engine) -> None:
    before = everything(migrated)
    assert migrate(migrated) == head()
    assert everything(migrated) == before


def test_several_migrate_at_once(empty: Engine) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: migrate(empty), range(4))) == {head()}
    assert differences(empty) == []
    with empty.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [head()]


def test_a_migration_that_fails_leaves_nothing(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(shared.db.migrate, "make_partitions", fail)
    with pytest.raises(RuntimeError):
        migrate(empty)
    with empty.connect() as connection:
        assert current(connection) is None
        tables = text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert connection.execute(tables).scalar() == 0


def test_messages_of_the_next_four_weeks_have_partitions(migrated: Engine) -> None:
    with migrated.begin() as connection:
        week = datetime.combine(weeks_of_messages(connection)[1], time(), UTC)
        now = min(datetime.now(UTC), week + timedelta(days=7, seconds=-1))  # another week may have begun since
        assert datetime.now(UTC) - now < timedelta(days=1), "the database was migrated in another week"
        for days in range(-7, 29):
            row = {"id": first_id_at(now + timedelta(days=days))}
            partition = connection.execute(
                text(
                    "INSERT INTO message (id, phone, submitted_at, status, price, attempts)"
                    " VALUES (:id, 1, now(), 'sent', 1, 1) RETURNING tableoid::regclass::text"
                ),
                row,
            ).scalar_one()
            assert partition != "message_default", f"{days} days from now"


def test_partitions_join_and_do_not_overlap(migrated: Engine) -> None:
    monday = datetime(2030, 1, 7, tzinfo=UTC)
    with migrated.begin() as connection:
        made = [
            *make_partitions(connection, monday),
            *make_partitions(connection, monday + timedelta(days=6, hours=23)),
        ]
        assert made == [f"message_{monday + timedelta(weeks=week):%Y%m%d}" for week in range(-1, 5)]
        assert make_partitions(connection, monday + timedelta(weeks=1)) == ["message_20300211"]
        bounds = {row.name: row.bound for row in connection.execute(PARTITIONS)}
    for name, following in pairwise(made):
        assert bounds[name].split("TO (")[1][:-1] == bounds[following].split("FROM (")[1].split(")")[0]


def test_messages_of_a_week_without_a_partition_move_to_it(migrated: Engine) -> None:
    """Such as those that a process with a clock far ahead has accepted. The week's partition could not be created."""
    ahead = datetime(2031, 1, 6, tzinfo=UTC)
    ids = [first_id_at(ahead + timedelta(days=days)) for days in (0, 6, 7)]
    insert = text(
        "INSERT INTO message (id, phone, submitted_at, status, price, attempts) VALUES (:id, 1, now(), 'sent', 1, 1)"
    )
    where = text("SELECT tableoid::regclass::text FROM message WHERE id = ANY(:ids) ORDER BY id")
    with migrated.begin() as connection:
        connection.execute(insert, [{"id": each} for each in ids])
        assert set(connection.execute(where, {"ids": ids}).scalars()) == {"message_default"}
        make_partitions(connection, ahead)
        assert connection.execute(where, {"ids": ids}).scalars().all() == ["message_20310106"] * 2 + [
            "message_20310113"
        ]
        assert connection.execute(text("SELECT count(*) FROM message_default")).scalar_one() == 0


def make_newer(engine: Engine, oldest_code: str) -> None:
    """Leave the database as a newer release would."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(text("UPDATE compatibility SET oldest_code = :revision"), {"revision": oldest_code})


def test_a_newer_database_that_allows_for_this_code_is_used_and_left_as_it_is(migrated: Engine) -> None:
    make_newer(migrated, oldest_code=head())
    assert schema_problem(migrated) is None
    assert migrate(migrated) == "9999"
    with migrated.connect() as connection:
        assert current(connection) == "9999"


def test_a_newer_database_is_refused(migrated: Engine) -> None:
    make_newer(migrated, oldest_code="9998")
    with pytest.raises(WrongSchema, match=r"newer than this code: at revision 9999, not \d+\. Run the newer release\."):
        wait_for_database(migrated, seconds=3_600)


def test_a_database_of_an_unknown_release_is_not_migrated(migrated: Engine) -> None:
    make_newer(migrated, oldest_code="9998")
    with pytest.raises(WrongSchema, match="Run the newer release"):
        migrate(migrated)


def test_a_database_that_is_away_is_reported_as_not_answering() -> None:
    engine = make_engine("postgresql+psycopg://nobody@127.0.0.1:1/none", pool=1)
    with pytest.raises(WrongSchema, match="does not answer"):
        wait_for_database(engine, seconds=0)
    engine.dispose()
