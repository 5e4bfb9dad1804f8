"""Knows which version of which list is valid for an account at a moment.

Versions and assignments are published at least AHEAD before they are valid, and a book is at most FRESH old. So every
process knows them in time, and a price does not depend on which process is asked.
"""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, bindparam, select

from shared.db.connection import reading
from shared.db.tables.accounts import account
from shared.db.tables.prices import price, price_assignment, price_list, price_version
from shared.prices.price_table import ONE_CREDIT, Costs, PriceTable

AHEAD: Final = timedelta(seconds=60)
"""The least time between publishing and being valid."""
FRESH: Final = 20.0
"""Seconds for which a book is used before it is read again."""
MAX_PRICES: Final = 1_000_000
"""Prices that are kept in memory, if more than one version has so many: about 120 MB."""

VERSIONS = (
    select(*price_version.c["valid_from", "id", "list_id"], *price_list.c["name", "carrier"])
    .join(price_list, price_list.c.id == price_version.c.list_id)
    .where(price_version.c.valid_from.is_not(None), price_version.c.withdrawn_at.is_(None))
    .order_by(*price_version.c["valid_from", "published_at", "id"])
)
ASSIGNMENTS = select(*price_assignment.c["account_id", "valid_from", "list_id"]).order_by(
    price_assignment.c.valid_from, price_assignment.c.id
)
SANDBOXES = select(account.c.id, account.c.sandbox_of).where(
    account.c.sandbox_of.in_(select(price_assignment.c.account_id))
)
OF_VERSION = select(*price.c["category", "prefix", "price"]).where(price.c.version_id == bindparam("version"))


class Version(NamedTuple):
    """A published version of a list."""

    valid_from: datetime
    id: int
    list_id: int
    list_name: str
    carrier: str | None
    """The carrier whose costs it has; None: it has prices of accounts."""


class Assignment(NamedTuple):
    """The list that an account has from a moment on; None: no list."""

    valid_from: datetime
    list_id: int | None


Dated = TypeVar("Dated", Version, Assignment)


class Book(NamedTuple):
    """All versions by list, and all assignments by account, in the order in which they become valid."""

    versions: dict[int, list[Version]]
    assignments: dict[int | None, list[Assignment]]

    def version_of(self, account_id: int, at: datetime) -> Version | None:
        """The version that is valid for an account; None: a segment costs one credit anywhere."""
        for owner in (account_id, None) if self.assignments else ():
            assigned = _last(self.assignments.get(owner, []), at)
            if assigned is not None and assigned.list_id is not None:
                return _last(self.versions.get(assigned.list_id, []), at)
        return None

    def costs_at(self, at: datetime) -> dict[str, int]:
        """The version that has a carrier's costs at a moment, by carrier. It never changes once that has come."""
        valid = (_last(each, at) for each in self.versions.values())
        return {each.carrier: each.id for each in valid if each is not None and each.carrier is not None}

    def announced(self, list_id: int, after: datetime) -> list[Version]:
        """The versions of a list that become valid after a moment; of several at once, the last."""
        later = {each.valid_from: each for each in self.versions.get(list_id, []) if each.valid_from > after}
        return list(later.values())


def _last(dated: list[Dated], at: datetime) -> Dated | None:
    number = bisect_right(dated, at, key=lambda each: each.valid_from)
    return dated[number - 1] if number else None


def read_book(connection: Connection) -> Book:
    """Three statements, whose size is that of the versions and assignments, not of the prices."""
    versions: dict[int, list[Version]] = {}
    for row in connection.execute(VERSIONS):
        versions.setdefault(row.list_id, []).append(Version(*row))
    assignments: dict[int | None, list[Assignment]] = {}
    for row in connection.execute(ASSIGNMENTS):
        assignments.setdefault(row.account_id, []).append(Assignment(row.valid_from, row.list_id))
    for sandbox, live in connection.execute(SANDBOXES):
        assignments[sandbox] = assignments[live]
    return Book(versions, assignments)


class Prices:
    """The book and the tables of a process."""

    def __init__(self, engine: Engine, may_block: Callable[[], None] = lambda: None) -> None:
        """`may_block` is called before anything waits for the database."""
        self._engine, self._may_block = engine, may_block
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._book: Book | None = None
        self._read_at = 0.0
        self._tables: dict[int, PriceTable] = {}

    def book(self) -> Book:
        """The book, at most FRESH old."""
        if (book := self._fresh_book()) is not None:
            return book
        self._may_block()
        with self._lock:
            book = self._fresh_book()
            if book is None:
                began = time.monotonic()
                with reading(self._engine) as connection:
                    book = read_book(connection)
                self._book, self._read_at = book, began
            return book

    def _fresh_book(self) -> Book | None:
        return self._book if time.monotonic() - self._read_at < FRESH else None

    def costs_at(self, at: datetime) -> Costs:
        """What a segment costs us at a moment."""
        return {carrier: self.table(version) for carrier, version in self.book().costs_at(at).items()}

    def table(self, version_id: int | None) -> PriceTable:
        """The prices of a version, from memory or the database. Without a version, a segment costs one credit."""
        if version_id is None:
            return ONE_CREDIT
        table = self._tables.get(version_id)
        if table is not None:
            return table
        self._may_block()
        with self._loading:
            table = self._tables.get(version_id)
            if table is None:
                with reading(self._engine) as connection:
                    rows = connection.execute(OF_VERSION, {"version": version_id})
                    table = PriceTable((row.category, row.prefix, row.price) for row in rows)
                sizes = sum(len(each) for each in self._tables.values()) + len(table)
                for version in list(self._tables) if sizes > MAX_PRICES else ():
                    sizes -= len(self._tables.pop(version))
                    if sizes <= MAX_PRICES:
                        break
                self._tables[version_id] = table
            return table
