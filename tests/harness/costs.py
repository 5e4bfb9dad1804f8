"""What carriers cost, for tests: valid since long ago, as if it had been published in time."""

from sqlalchemy import Engine, text

from shared.prices.lists import create_list, publish, upload
from shared.prices.sheet import SheetRow

EARLIER = text("UPDATE price_version SET valid_from = now() - interval '60 days' WHERE id = :version")


def valid_list(engine: Engine, name: str, *prices: tuple[str, str, int], carrier: str | None = None) -> int:
    """A list with these categories, prefixes and prices. Returns its id."""
    with engine.begin() as connection:
        made = create_list(connection, name, carrier=carrier)
        version = upload(connection, made, [SheetRow(2, *each) for each in prices]).version_id
        assert version is not None
        publish(connection, version)
        connection.execute(EARLIER, {"version": version})
    return made
