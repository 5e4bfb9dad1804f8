"""Builds an index of a large table while others write to it. For migrations with `transactional = False`."""

from sqlalchemy import Connection, text

PARTITIONS, IS_PARTITIONED, IS_VALID = map(
    text,
    (
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass(:table) ORDER BY 1",
        "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(:table)",
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:index)",
    ),
)
"""The catalogue of Postgres."""


def build_index(connection: Connection, table: str, index: str, definition: str) -> None:
    """Build an index, of a partitioned table partition by partition. `definition` follows the table's name: "(phone)".

    Others can write to the table meanwhile if the connection is in AUTOCOMMIT, as when a database is upgraded; in the
    transaction that makes a new database, the table is empty. Can be repeated after it failed: what is complete stays.
    """
    if not connection.execute(IS_PARTITIONED, {"table": table}).scalar_one():
        _build(connection, table, index, definition)
        return
    connection.execute(text(f"CREATE INDEX IF NOT EXISTS {index} ON ONLY {table} {definition}"))
    for partition in connection.execute(PARTITIONS, {"table": table}).scalars().all():
        part = f"{index}{partition.removeprefix(table)}"
        _build(connection, partition, part, definition)
        connection.execute(text(f"ALTER INDEX {index} ATTACH PARTITION {part}"))


def _build(connection: Connection, table: str, index: str, definition: str) -> None:
    if connection.execute(IS_VALID, {"index": index}).scalar() is False:  # an interrupted build leaves it like that
        connection.execute(text(f"DROP INDEX CONCURRENTLY {index}"))
    how = "CONCURRENTLY" if connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT" else ""
    connection.execute(text(f"CREATE INDEX {how} IF NOT EXISTS {index} ON {table} {definition}"))
