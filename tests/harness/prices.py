"""Price lists of tests, valid at once."""

from collections.abc import Iterable

from sqlalchemy import Connection, Engine, text

from shared.prices.lists import assign, create_list, publish, upload
from shared.prices.sheet import SheetRow

Priced = Iterable[tuple[str, str, int]]
"""Categories, prefixes and credits for a segment."""


def publish_prices(engine: Engine, prices: Priced, name: str = "standard", account: int | None = None) -> int:
    """Publish a version of a list, valid at once, and give the list to the account or to all. Returns the version's id.
    A process has the prices once it reads them again."""
    with engine.begin() as connection:
        found = connection.execute(text("SELECT id FROM price_list WHERE name = :name"), {"name": name}).scalar()
        price_list = create_list(connection, name) if found is None else found
        version = _publish(connection, price_list, prices)
        assign(connection, account, price_list)
        _make_valid(connection, "price_assignment")
    return version


def _publish(connection: Connection, price_list: int, prices: Priced) -> int:
    rows = (SheetRow(line, *each) for line, each in enumerate(prices, 2))
    version = upload(connection, price_list, rows).version_id
    assert version is not None
    publish(connection, version)
    _make_valid(connection, "price_version")
    return version


def _make_valid(connection: Connection, table: str) -> None:
    last = f"(SELECT max(id) FROM {table})"
    connection.execute(text(f"UPDATE {table} SET valid_from = clock_timestamp() WHERE id = {last}"))
