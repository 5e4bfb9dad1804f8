"""docs/explanation/security.md on the real schema: which keys have the account, and that nothing joins two."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql
from psycopg.errors import FeatureNotSupported
from sqlalchemy import Connection, Engine, Index, Table, UniqueConstraint, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import ColumnCollectionConstraint

import shared.ids
from bulksms.local.postgres import Postgres
from shared.audit.check import audit
from shared.db.connection import driver_of
from tests.harness.database import dispose, fresh_database
from tests.harness.declared_tables import metadata
from tests.harness.service import Service

PAGE = Path(shared.ids.__file__).parents[1] / "docs" / "explanation" / "security.md"
GROUPS = ("in every key", "in the row, and not in every key", "through another table", "none: the installation's")
OF_MESSAGES = (
    "{column} IN (SELECT m.id FROM message m JOIN batch b ON b.id = batch_of(m.id) WHERE b.account_id = {account})"
)
OF_GROUPS = "group_id IN (SELECT id FROM contact_group WHERE account_id = {account})"
OF_IMPORTS = "import_id IN (SELECT id FROM contact_import WHERE account_id = {account})"
THROUGH = {
    "message": OF_MESSAGES.replace("{column}", "id"),
    **dict.fromkeys(("attempt", "doubt", "resolved_doubt"), OF_MESSAGES.replace("{column}", "message_id")),
    **dict.fromkeys(("contact", "contact_group_prefix"), OF_GROUPS),
    **dict.fromkeys(("import_error", "import_chunk"), OF_IMPORTS),
    "export_chunk": "export_id IN (SELECT id FROM message_export WHERE account_id = {account})",
    "smpp_bind": "credential_id IN (SELECT id FROM smpp_credential WHERE account_id = {account})",
    "delivery": "webhook_id IN (SELECT id FROM webhook WHERE account_id = {account})",
    "send_rejection": "send_id IN (SELECT id FROM send WHERE account_id = {account})",
}
NOT_MOVED = ("job_failure", "listener", "membership", "invitation", "price_assignment", "contact_group_prefix")
"""The state of running processes; people and price lists, which are the installation's; and what triggers count."""


def documented() -> dict[str, list[str]]:
    """The tables of each group, by the page."""
    rows = dict(re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", PAGE.read_text(), re.MULTILINE))
    return {group: re.findall(r"`(\w+)`", rows[group]) for group in GROUPS}


def keys_of(table: Table) -> list[set[str]]:
    """The columns of each primary key, unique constraint and unique index."""
    constraints = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    indexes = [index for index in table.indexes if index.unique]
    keys: list[ColumnCollectionConstraint | Index] = [table.primary_key, *constraints, *indexes]
    return [set(key.columns.keys()) for key in keys if key.columns]


def test_the_page_lists_every_table_once_and_where_it_has_the_account() -> None:
    groups = documented()
    assert sorted(name for names in groups.values() for name in names) == sorted(metadata.tables)
    for name, table in metadata.tables.items():
        in_row = "account_id" in table.columns
        in_keys = in_row and all("account_id" in key for key in keys_of(table))
        group = GROUPS[0] if in_keys else GROUPS[1] if in_row else GROUPS[2] if name in THROUGH else GROUPS[3]
        assert name in groups[group], f"{name}: {group}"


def test_rows_of_an_account_refer_to_no_other_account() -> None:
    owned = {name for group in GROUPS[:3] for name in documented()[group]}
    foreign = {
        (name, key.column.table.name)
        for name in owned
        for key in metadata.tables[name].foreign_keys
        if key.column.table.name not in owned | {"account"}
    }
    assert foreign == {("membership", "person"), ("price_assignment", "price_list")}


@pytest.fixture
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    made = fresh_database(postgres_server)
    yield made
    dispose(made)


def test_postgres_takes_exactly_those_keys_for_partitions_by_account(engine: Engine) -> None:
    groups = documented()
    for group in GROUPS[:2]:
        for name in groups[group]:
            keys = keys_of(metadata.tables[name])
            taken = [takes_key(engine, name, sorted(key)) for key in keys]
            assert taken == ["account_id" in key for key in keys], name


def takes_key(engine: Engine, table: str, key: list[str]) -> bool:
    """Whether a table like this, in partitions by account, can have this unique key."""
    columns = sql.SQL(", ").join(map(sql.Identifier, key))
    try:
        with engine.connect() as connection:
            connection.execute(text(f"CREATE TABLE apart (LIKE {table}) PARTITION BY HASH (account_id)"))
            driver_of(connection).execute(sql.SQL("ALTER TABLE apart ADD UNIQUE ({})").format(columns))
            connection.rollback()
    except FeatureNotSupported:
        return False
    except DBAPIError as error:
        raise AssertionError(table) from error
    return True


def copy_account(source: Connection, target: Connection, account: int) -> None:
    """Copy everything that belongs to an account into another database."""
    groups = documented()
    owned = {name for group in GROUPS[:3] for name in groups[group]} - {*NOT_MOVED}
    for table in metadata.sorted_tables:
        if table.name == "account":
            condition = "id = {account}"
        elif table.name in owned:
            condition = THROUGH.get(table.name, "account_id = {account}")
        else:
            continue
        chosen = condition.replace("{account}", str(account))
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        copied = "COPY (SELECT {} FROM {} WHERE {}) TO STDOUT"
        blocks = driver_of(source).cursor().copy(copied.format(names, table.name, chosen).encode())
        with (
            blocks as out,
            driver_of(target).cursor().copy(f"COPY {table.name} ({names}) FROM STDIN".encode()) as into,
        ):
            for block in out:
                into.write(block)


def test_the_rows_of_an_account_alone_are_a_clean_installation(engine: Engine, postgres_server: Postgres) -> None:
    service = Service(engine)
    other = service.new_account("other")
    group = service.new_group(["254711000001", "254711000002"])
    service.post("/sms/send-group", sender_id="ACME", group_id=group, message="To a group")
    service.bulk(["254711000003", "0712", "99901000001", "99902000001", "99906000001"], "To a list")
    assert service.post("/suppressions", phones=["254711000009"]).status_code == 200
    service.send("254711000003")
    service.post("/sms/send", token=service.new_token(other), sender_id="ACME", phone="254711000004", message="Other")
    service.deliver_receipts()
    service.sweep()
    apart = fresh_database(postgres_server)
    try:
        with engine.connect() as source, apart.begin() as target:
            copy_account(source, target, service.account_id)
            counts = [
                target.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()
                for name in ("account", "send", "message", "contact", "doubt", "suppression", "send_rejection")
            ]
        assert counts == [1, 3, 7, 2, 1, 1, 1]
        assert audit(apart, full=True) == audit(engine, full=True) == []
    finally:
        dispose(apart)
