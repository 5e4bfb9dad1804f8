"""What a segment costs us: the versions of carriers' own lists (`price_list.carrier`)."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection, bindparam, select

from shared.db.tables.prices import price_list, price_version
from shared.prices.book import read_table
from shared.prices.price_table import PriceTable

Costs = Mapping[str, PriceTable]
"""By carrier, those that have any."""

VALID = (
    select(price_list.c.carrier, price_version.c.id)
    .join(price_version, price_version.c.list_id == price_list.c.id)
    .where(
        price_list.c.carrier.is_not(None),
        price_version.c.valid_from <= bindparam("at"),
        price_version.c.withdrawn_at.is_(None),
    )
    .order_by(*price_version.c["valid_from", "published_at", "id"])
)


def costs_at(
    connection: Connection, at: datetime | None = None, table: Callable[[int], PriceTable] | None = None
) -> Costs:
    """The costs at a moment, by default now. They never change once it has come. `table` gives the prices of a version,
    by default from the database."""
    read = table or partial(read_table, connection)
    return {carrier: read(version) for carrier, version in cost_versions(connection, at).items()}


def cost_versions(connection: Connection, at: datetime | None = None) -> dict[str, int]:
    """The version of each carrier's list that is valid at a moment, by default now."""
    rows = connection.execute(VALID, {"at": at or datetime.now(UTC)})
    return {row.carrier: row.id for row in rows}  # of several, the last
