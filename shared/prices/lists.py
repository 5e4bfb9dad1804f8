"""Price lists: their versions, and the accounts that have them.

Every function works in the connection's transaction, and raises Refused, without a change, for what is not possible.
What is valid, or will be within AHEAD, is never changed: a version is made as a draft, published once, and may be
withdrawn before it is valid.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, text, update

from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Refused
from shared.db.connection import driver_of
from shared.db.tables.prices import price, price_assignment, price_list, price_version
from shared.prices.book import AHEAD
from shared.prices.sheet import SheetError, SheetRow

MAX_ERRORS: Final = 100
"""Lines with mistakes that a report names."""
DRAFTS_KEPT: Final = timedelta(days=7)

LISTS, VERSIONS = price_list.c, price_version.c
NOW = func.clock_timestamp()
ONE_LIST = select(price_list).where(LISTS.id == bindparam("list"))
LOCK_LIST = ONE_LIST.with_for_update()
OF_LIST = (
    select(price_version, (VERSIONS.valid_from <= NOW).label("valid"))
    .where(VERSIONS.list_id == bindparam("list"))
    .order_by(VERSIONS.id.desc())
)
ONE_VERSION = select(price_version, NOW.label("now")).where(VERSIONS.id == bindparam("version"))
STAGE = text("CREATE TEMPORARY TABLE sheet (line int, category text, prefix text, price bigint) ON COMMIT DROP")
"""SQLAlchemy would need a table object for it."""
CONTRADICTIONS = text(
    f"""
    SELECT category, prefix, min(line) AS first, max(line) AS last, min(price) AS lowest, max(price) AS highest
      FROM sheet GROUP BY category, prefix HAVING min(price) <> max(price) ORDER BY first LIMIT {MAX_ERRORS}
    """
)
STORE = text(
    """
    INSERT INTO price (version_id, category, prefix, price)
    SELECT :version, category, prefix, min(price) FROM sheet GROUP BY category, prefix
    """
)


class Upload(NamedTuple):
    """What became of a sheet: a draft, or the mistakes for which it was refused."""

    version_id: int | None
    prices: int
    doubled: int
    """Lines that repeat the price of another one."""
    errors: list[SheetError]
    error_count: int


def create_list(connection: Connection, name: str, *, carrier: str | None = None, by: Actor | None = None) -> int:
    """Create an empty list: of what accounts pay, or of what a carrier costs. Returns its id."""
    exists = select(LISTS.id).where((LISTS.name == name) | ((LISTS.carrier == carrier) & LISTS.carrier.is_not(None)))
    if connection.execute(exists).first() is not None:
        raise Refused(f"There is a price list {name!r} already, or one of that carrier.")
    values = {"name": name, "carrier": carrier}
    list_id: int = connection.execute(insert(price_list).values(values).returning(LISTS.id)).scalar_one()
    record(connection, by, "price_list.created", subject=list_id, after=values)
    return list_id


def lock_list(connection: Connection, list_id: int) -> Row[Any]:
    """The list's row. Changes of one list follow one another."""
    row = connection.execute(LOCK_LIST, {"list": list_id}).one_or_none()
    if row is None:
        raise Refused(f"There is no price list {list_id}.")
    return row


def upload(
    connection: Connection, list_id: int, rows: Iterable[SheetRow | SheetError], *, by: Actor | None = None
) -> Upload:
    """Store the prices of a sheet as a draft, unless a line has a mistake or contradicts another one.

    Holds one chunk of the file in memory.
    """
    lock_list(connection, list_id)
    connection.execute(STAGE)
    errors: list[SheetError] = []
    error_count = lines = 0
    copied = "COPY sheet (line, category, prefix, price) FROM STDIN"
    with driver_of(connection).cursor() as cursor, cursor.copy(copied) as copy:
        for row in rows:
            if isinstance(row, SheetError):
                error_count += 1
                if len(errors) < MAX_ERRORS:
                    errors.append(row)
            else:
                lines += 1
                copy.write_row(row)
    for each in connection.execute(CONTRADICTIONS):
        error_count += 1
        detail = (
            f"Prefix {each.prefix or '*'} has the price {each.lowest:,} and the price {each.highest:,}"
            f" (lines {each.first:,} and {each.last:,})."
        )
        errors.append(SheetError(each.last, "contradiction", detail))
    if errors or not lines:
        empty = [SheetError(1, "no_prices", "The sheet has no prices.")] if not errors else []
        return Upload(None, lines, 0, [*errors, *empty][:MAX_ERRORS], error_count + len(empty))
    connection.execute(delete(price).where(price.c.version_id.in_(_old_drafts(list_id))))
    connection.execute(delete(price_version).where(VERSIONS.id.in_(_old_drafts(list_id))))
    made = insert(price_version).values(list_id=list_id, prices=0).returning(VERSIONS.id)
    version_id: int = connection.execute(made).scalar_one()
    stored = connection.execute(STORE, {"version": version_id}).rowcount
    connection.execute(update(price_version).where(VERSIONS.id == version_id).values(prices=stored))
    record(connection, by, "price_list.uploaded", subject=list_id, after={"version": version_id, "prices": stored})
    return Upload(version_id, stored, lines - stored, [], 0)


def _old_drafts(list_id: int) -> Any:
    return select(VERSIONS.id).where(
        VERSIONS.list_id == list_id, VERSIONS.valid_from.is_(None), VERSIONS.created_at < NOW - DRAFTS_KEPT
    )


def publish(
    connection: Connection,
    version_id: int,
    valid_from: datetime | None = None,
    *,
    notice: timedelta = timedelta(0),
    by: Actor | None = None,
) -> datetime:
    """Publish a draft. Returns from when it is valid: as soon as possible, which is after `notice` and AHEAD."""
    version = _lock_version(connection, version_id)
    if version.published_at is not None:
        raise Refused(f"Version {version_id} was published already.")
    earliest = version.now + max(notice, AHEAD)
    if valid_from is not None and valid_from < earliest:
        raise Refused(f"A version that raises prices is valid from {earliest:%Y-%m-%d %H:%M:%S} UTC at the earliest.")
    begins = valid_from or earliest
    change = update(price_version).where(VERSIONS.id == version_id).values(valid_from=begins, published_at=NOW)
    connection.execute(change)
    after = {"version": version_id, "valid_from": begins.isoformat()}
    record(connection, by, "price_list.published", subject=version.list_id, after=after)
    return begins


def withdraw(connection: Connection, version_id: int, *, by: Actor | None = None) -> None:
    """Withdraw a published version that is not valid within AHEAD, or delete a draft."""
    version = _lock_version(connection, version_id)
    if version.valid_from is None:
        connection.execute(delete(price).where(price.c.version_id == version_id))
        connection.execute(delete(price_version).where(VERSIONS.id == version_id))
    elif version.withdrawn_at is not None:
        return
    elif version.valid_from < version.now + AHEAD:
        raise Refused(f"Version {version_id} is valid already, or within a minute. Publish another one.")
    else:
        connection.execute(update(price_version).where(VERSIONS.id == version_id).values(withdrawn_at=NOW))
    record(connection, by, "price_list.withdrawn", subject=version.list_id, before={"version": version_id})


def _lock_version(connection: Connection, version_id: int) -> Row[Any]:
    version = connection.execute(ONE_VERSION, {"version": version_id}).one_or_none()
    if version is None:
        raise Refused(f"There is no price version {version_id}.")
    lock_list(connection, version.list_id)
    return connection.execute(ONE_VERSION, {"version": version_id}).one()


def assign(connection: Connection, account_id: int | None, list_id: int | None, *, by: Actor | None = None) -> datetime:
    """Give an account a list, or with None no list of its own; without an account, set the default. Returns from when
    it has it."""
    if list_id is not None and lock_list(connection, list_id).carrier is not None:
        raise Refused("That list has the costs of a carrier.")
    values = {"account_id": account_id, "list_id": list_id, "valid_from": NOW + AHEAD}
    made = insert(price_assignment).values(values).returning(price_assignment.c.valid_from)
    valid_from: datetime = connection.execute(made).scalar_one()
    record(connection, by, "price_list.assigned", account_id=account_id, after={"list": list_id})
    return valid_from
