"""Tells accounts that their prices change, by an event of those that listen."""

from datetime import datetime

from sqlalchemy import Connection

from shared.ids import rfc3339
from shared.outbox import EventType, add, listening
from shared.prices.book import Book, Version, read_book
from shared.prices.compare import compare
from shared.prices.price_table import WITHOUT_LIST

COUNTED = ("raised", "lowered", "added", "removed")


def announce(connection: Connection, before: Book, at: datetime, *, withdrawn: bool = False) -> None:
    """Write `price.changed` for each account whose prices at a time are other ones than those by the book `before`.

    If a version was withdrawn, the event repeats what it would have changed. The next announced version then changes
    something else than before, so it is told, too.
    """
    now = read_book(connection)
    counted: dict[tuple[int | None, int | None], dict[str, int]] = {}

    def tell(account_id: int, old: Version | None, new: Version | None, at: datetime, *, withdrawn: bool) -> None:
        change = old and old.id, new and new.id
        if change not in counted:
            counts = compare(connection, *change, anywhere=WITHOUT_LIST).counts
            counted[change] = {kind: counts[kind] for kind in COUNTED}
        if any(counted[change].values()):
            named = {"list": new and new.list_name, "version": change[1], "valid_from": rfc3339(at)}
            data = {**named, "withdrawn": withdrawn, **counted[change]}
            add(connection, account_id, EventType.PRICE_CHANGED, data)

    for account_id in listening(connection):
        old, new = before.version_of(account_id, at), now.version_of(account_id, at)
        if (old and old.id) == (new and new.id):
            continue
        tell(account_id, *((new, old) if withdrawn else (old, new)), at, withdrawn=withdrawn)
        for following in now.announced(new.list_id, at)[:1] if new else ():
            tell(account_id, new, following, following.valid_from, withdrawn=False)
