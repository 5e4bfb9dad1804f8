"""What carriers cost, for tests: valid since long ago, as if it had been published in time."""

from sqlalchemy import Engine, text

from shared.prices.lists import create_list, publish
from tests.harness.prices import draft_of

EARLIER = text("UPDATE price_version SET valid_from = now() - interval '60 days' WHERE id = :version")


def valid_list(engine: Engine, name: str, *prices: tuple[str, str, int], carrier: str | None = None) -> int:
    """A list with these categories, prefixes and prices. Returns its id."""
    with engine.begin() as connection:
        made = create_list(connection, name, carrier=carrier)
        version = draft_of(connection, made, prices)
        publish(connection, version, notice_days=0)
        connection.execute(EARLIER, {"version": version})
    return made
