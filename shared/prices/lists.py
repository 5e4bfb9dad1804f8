"""Price lists: their versions, and the accounts that have them.

Every function works in the connection's transaction, and raises Refused, without a change, for what is not possible,
and Missing for what does not exist. What is valid, or will be within AHEAD, is never changed: a version is made as a
draft, published once, and may be withdrawn before it is valid. Several versions may be announced: each is compared with
what is valid without it when it begins. Of those that begin at one moment, the one published last is valid.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert

from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Missing, Refused
from shared.db.tables.accounts import account
from shared.db.tables.carriers import carrier_report
from shared.db.tables.prices import price, price_assignment, price_list, price_version
from shared.ids import LAST_NUMBER, rfc3339
from shared.lifecycle import EventType
from shared.outbox import add, listening
from shared.prices.book import AHEAD, Book, Version, read_book
from shared.prices.compare import Comparison, compare
from shared.prices.price_table import WITHOUT_LIST, Price

LISTS, VERSIONS = price_list.c, price_version.c
CARRIERS = select(carrier_report.c.carrier).distinct().order_by(carrier_report.c.carrier)
NOW = func.clock_timestamp()
SHOWN = select(price_list, NOW.label("now"))
LOCK_LIST = SHOWN.where(LISTS.id == bindparam("list")).with_for_update()
OF_LIST = select(price_version, NOW.label("now")).where(VERSIONS.list_id == bindparam("list")).order_by(VERSIONS.id)
ONE_VERSION = select(price_version, NOW.label("now")).where(VERSIONS.id == bindparam("version"))
NAMED = (
    select(account.c.id.label("account_id"), account.c.name)
    .where(account.c.id.in_(select(price_assignment.c.account_id)))
    .order_by(account.c.id)
)
COUNTED = ("raised", "lowered", "added", "removed")


def create_list(connection: Connection, name: str, *, carrier: str | None = None, by: Actor | None = None) -> int:
    """Create an empty list: of what accounts pay, or of what a carrier costs. Returns its id.

    A carrier must be one that workers have, if any run.
    """
    known = connection.execute(CARRIERS).scalars().all() if carrier else ()
    if known and carrier not in known:
        raise Refused(f"No worker has a carrier {carrier!r}, only {', '.join(known)}. Add it to CARRIERS_FILE first.")
    values = {"name": name, "carrier": carrier}
    made = upsert(price_list).values(values).on_conflict_do_nothing().returning(LISTS.id)
    list_id: int | None = connection.execute(made).scalar()
    if list_id is None:
        raise Refused(f"There is a price list {name!r} already, or one of that carrier.")
    record(connection, by, "price_list.created", subject=list_id, after=values)
    return list_id


def list_lists(connection: Connection, *, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
    """Lists in the order of their ids, each with its accounts and its valid version."""
    return _shown(connection, SHOWN.where(LISTS.id > after).order_by(LISTS.id).limit(limit))


def show_list(connection: Connection, list_id: int) -> dict[str, Any]:
    """One list, with all its versions, the newest first."""
    shown = _shown(connection, SHOWN.where(LISTS.id == list_id)) if list_id <= LAST_NUMBER else []
    if not shown:
        raise Missing(f"There is no price list {list_id}.")
    rows = connection.execute(OF_LIST, {"list": list_id})
    versions = [{**row._mapping, "status": _status(row, shown[0]["version"])} for row in rows]
    return {**shown[0], "versions": versions[::-1]}


def _shown(connection: Connection, chosen: Select[Any]) -> list[dict[str, Any]]:
    book, named = read_book(connection), connection.execute(NAMED).all()
    shown = []
    for row in connection.execute(chosen):
        owners = {owner for owner, assigned in book.assignments.items() if assigned[-1].list_id == row.id}
        valid = [each.id for each in book.versions.get(row.id, []) if each.valid_from <= row.now]
        shown.append(
            {
                **row._mapping,
                "is_default": None in owners,
                "accounts": [each._asdict() for each in named if each.account_id in owners],
                "version": valid[-1] if valid else None,
            }
        )
    return shown


def _status(row: Row[Any], valid: int | None) -> str:
    if row.valid_from is None:
        return "draft"
    if row.withdrawn_at is not None:
        return "withdrawn"
    if row.valid_from > row.now:
        return "announced"
    return "valid" if row.id == valid else "past"


def list_prices(connection: Connection, version_id: int, after: Sequence[str] | None, limit: int) -> list[Price]:
    """Prices of a version by category and prefix, after those of a position."""
    chosen = select(*price.c["price", "category", "prefix"]).where(price.c.version_id == version_id)
    if after is not None:
        chosen = chosen.where(tuple_(price.c.category, price.c.prefix) > tuple_(*after))
    return [Price(*row) for row in connection.execute(chosen.order_by(price.c.category, price.c.prefix).limit(limit))]


def find_version(connection: Connection, version_id: int) -> Row[Any]:
    """The version's row, with the time `now`."""
    known = version_id <= LAST_NUMBER
    row = connection.execute(ONE_VERSION, {"version": version_id}).one_or_none() if known else None
    if row is None:
        raise Missing(f"There is no price version {version_id}.")
    return row


def show_version(connection: Connection, version_id: int, notice_days: int) -> dict[str, Any]:
    """A version with what it changes, in a transaction.

    What it changes is compared with what is valid without it when it begins; a draft begins as soon as possible.
    `earliest` is the time from which a draft may be valid.
    """
    row = find_version(connection, version_id)
    shown = show_list(connection, row.list_id)
    version = next(each for each in shown["versions"] if each["id"] == version_id)
    is_draft = row.valid_from is None
    begins = row.now + AHEAD if is_draft else row.valid_from
    comparison = _comparison(connection, read_book(connection), row, begins, carrier=shown["carrier"])
    notice = timedelta(days=notice_days) if _is_told(shown, comparison) else AHEAD
    return {
        **version,
        "list": shown["name"],
        "counts": comparison.counts,
        "changes": [each._asdict() for each in comparison.changes],
        "earliest": row.now + max(AHEAD, notice) if is_draft else None,
    }


def _comparison(connection: Connection, book: Book, row: Row[Any], at: datetime, *, carrier: str | None) -> Comparison:
    """What the version of a row changes if it begins then."""
    costs = {} if carrier else book.costs_at(at)
    before = None
    for each in book.versions.get(row.list_id, []):
        if each.id == row.id or each.valid_from > at:
            break
        before = each.id
    return compare(connection, before, row.id, costs=costs)


def _is_told(shown: dict[str, Any], comparison: Comparison) -> bool:
    """Whether accounts have to be told in time."""
    return comparison.needs_notice and bool(shown["is_default"] or shown["accounts"])


def publish(
    connection: Connection,
    version_id: int,
    valid_from: datetime | None = None,
    *,
    notice_days: int,
    by: Actor | None = None,
) -> datetime:
    """Publish a draft. Returns from when it is valid: by default as soon as possible.

    That is after AHEAD, or after `notice_days` if accounts would pay more or could not send any more than by
    what is announced for that time. They get an event.
    """
    version = _lock_version(connection, version_id)
    if version.published_at is not None:
        raise Refused(f"Version {version_id} was published already.")
    shown, book = show_list(connection, version.list_id), read_book(connection)
    soon, noticed = version.now + AHEAD, version.now + timedelta(days=notice_days, seconds=1)
    noticed = max(soon, noticed.replace(microsecond=0))  # a moment that can be named again
    begins = valid_from or soon
    comparison = _comparison(connection, book, version, begins, carrier=shown["carrier"])
    is_told = _is_told(shown, comparison)
    earliest = noticed if is_told else soon
    if valid_from is None:
        begins = earliest
    elif begins < earliest:
        why = f"raises or removes prices, which takes {notice_days} days of notice" if is_told else "takes a minute"
        raise Refused(f"This version {why}: it can be valid from {earliest:%Y-%m-%dT%H:%M:%SZ} at the earliest.")
    begins = begins.replace(microsecond=begins.microsecond // 1000 * 1000)  # as it is shown
    published = {"valid_from": begins, "published_at": NOW}
    connection.execute(update(price_version).where(VERSIONS.id == version_id).values(published))
    after = {"version": version_id, "valid_from": begins.isoformat()}
    record(connection, by, "price_list.published", subject=version.list_id, after=after)
    announce(connection, book, begins)
    return begins


def withdraw(connection: Connection, version_id: int, *, by: Actor | None = None) -> None:
    """Withdraw a published version that is not valid within AHEAD, which accounts are told; or delete a draft."""
    version = _lock_version(connection, version_id)
    book = read_book(connection)
    if version.valid_from is None:
        connection.execute(delete(price).where(price.c.version_id == version_id))
        connection.execute(delete(price_version).where(VERSIONS.id == version_id))
    elif version.withdrawn_at is not None:
        return
    elif version.valid_from < version.now + AHEAD:
        raise Refused(f"Version {version_id} is valid already, or within a minute. Publish another one.")
    else:
        connection.execute(update(price_version).where(VERSIONS.id == version_id).values(withdrawn_at=NOW))
        announce(connection, book, version.valid_from, withdrawn=True)
    record(connection, by, "price_list.withdrawn", subject=version.list_id, before={"version": version_id})


def assign(connection: Connection, account_id: int | None, list_id: int | None, *, by: Actor | None = None) -> datetime:
    """Give an account a list, or with None no list of its own; without an account, set the default. Returns from when
    it has it. An account whose prices change gets an event."""
    given = None if list_id is None else lock_list(connection, list_id)
    book = read_book(connection)
    if given is not None:
        if given.carrier is not None:
            raise Refused("That list has the costs of a carrier.")
        if not any(each.valid_from <= given.now + AHEAD for each in book.versions.get(given.id, [])):
            raise Refused("That list has no version that is valid within a minute. Publish one first.")
    values = {"account_id": account_id, "list_id": list_id, "valid_from": func.date_trunc("milliseconds", NOW + AHEAD)}
    made = insert(price_assignment).values(values).returning(price_assignment.c.valid_from)
    valid_from: datetime = connection.execute(made).scalar_one()
    record(connection, by, "price_list.assigned", account_id=account_id, after={"list": list_id})
    announce(connection, book, valid_from)
    return valid_from


def lock_list(connection: Connection, list_id: int) -> Row[Any]:
    """The list's row. Changes of one list follow one another."""
    row = connection.execute(LOCK_LIST, {"list": list_id}).one_or_none()
    if row is None:
        raise Missing(f"There is no price list {list_id}.")
    return row


def _lock_version(connection: Connection, version_id: int) -> Row[Any]:
    lock_list(connection, find_version(connection, version_id).list_id)
    return find_version(connection, version_id)


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
