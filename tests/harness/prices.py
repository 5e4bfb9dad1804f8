"""Price lists of tests: valid at once, or drafts."""

from collections.abc import Iterable

from sqlalchemy import Connection, Engine, text

from shared.accounts.audit_log import WORKER
from shared.ids import new_id
from shared.prices.drafts import make_draft, stage
from shared.prices.lists import assign, create_list, publish
from shared.prices.sheet import SheetRow

EARLIER = text("UPDATE price_version SET valid_from = now() - interval '60 days' WHERE id = :version")
Priced = Iterable[tuple[str, str, int]]
"""Categories, prefixes and credits for a segment."""


def draft_of(connection: Connection, price_list: int, prices: Priced) -> int:
    """A draft with these prices. Returns its id."""
    stage(connection, [SheetRow(line, *each) for line, each in enumerate(prices, 2)])
    return make_draft(connection, price_list, by=WORKER)


def a_draft(engine: Engine) -> tuple[int, int]:
    """The ids of a new list and of its draft."""
    with engine.begin() as connection:
        made = create_list(connection, f"List {new_id().hex}", by=WORKER)
        return made, draft_of(connection, made, [("", "254", 12), ("marketing", "33", 40)])


def valid_list(engine: Engine, name: str, *prices: tuple[str, str, int], carrier: str | None = None) -> int:
    """A list with these categories, prefixes and prices, valid since long ago. Returns its id."""
    with engine.begin() as connection:
        made = create_list(connection, name, carrier=carrier)
        version = draft_of(connection, made, prices)
        publish(connection, version, notice_days=0)
        connection.execute(EARLIER, {"version": version})
    return made


def publish_prices(engine: Engine, prices: Priced, name: str = "standard", account: int | None = None) -> int:
    """Publish a version of a list, valid at once, and give the list to the account or to all. Returns the version's id.
    A process has the prices once it reads them again."""
    with engine.begin() as connection:
        found = connection.execute(text("SELECT id FROM price_list WHERE name = :name"), {"name": name}).scalar()
        price_list = create_list(connection, name) if found is None else found
        version = draft_of(connection, price_list, prices)
        publish(connection, version, notice_days=0)
        _make_valid(connection, "price_version")
        assign(connection, account, price_list)
        _make_valid(connection, "price_assignment")
    return version


def _make_valid(connection: Connection, table: str) -> None:
    last = f"(SELECT max(id) FROM {table})"
    connection.execute(text(f"UPDATE {table} SET valid_from = clock_timestamp() WHERE id = {last}"))
