"""Makes a draft of a version from a sheet. Holds one chunk of the sheet in memory."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select, text, update

from shared.accounts.audit_log import Actor, record
from shared.db.connection import driver_of
from shared.db.tables.prices import price, price_version
from shared.prices.lists import lock_list
from shared.prices.sheet import BadSheet, SheetError, SheetRow

MAX_ERRORS: Final = 100
"""Lines with mistakes that are named."""
COPIED_AT_ONCE: Final = 10_000
"""Rows of one COPY, which must not wait for the next ones: workers end statements whose client has stalled."""
KEPT: Final = timedelta(days=7)
"""For how long a draft may be published."""

VERSIONS = price_version.c
STAGE = text("CREATE TEMPORARY TABLE sheet (line int, category text, prefix text, price bigint) ON COMMIT DROP")
"""SQL, as the table is temporary."""
COPY = "COPY sheet (line, category, prefix, price) FROM STDIN"
"""SQL, as SQLAlchemy has no COPY, and the table is temporary."""
CONTRADICTIONS = text(
    f"""
    SELECT category, prefix, min(line) AS first, max(line) AS last, min(price) AS lowest, max(price) AS highest
      FROM sheet GROUP BY category, prefix HAVING min(price) <> max(price) ORDER BY first LIMIT {MAX_ERRORS}
    """
)
"""SQL, as the table is temporary."""
STORE = text(
    """
    INSERT INTO price (version_id, category, prefix, price)
    SELECT :version, category, prefix, min(price) FROM sheet GROUP BY category, prefix ORDER BY category, prefix
    """
)
"""SQL, as the table is temporary."""


def stage(connection: Connection, rows: Iterable[SheetRow | SheetError]) -> int:
    """Read a sheet into the transaction's temporary table, one chunk of its file at a time. Returns its lines.

    Raises BadSheet if a line has a mistake or contradicts another one.
    """
    connection.execute(STAGE)
    errors: list[SheetError] = []
    count = lines = 0
    rest = iter(rows)
    while part := list(islice(rest, COPIED_AT_ONCE)):
        wrong = [row for row in part if isinstance(row, SheetError)]
        errors, count = [*errors, *wrong][:MAX_ERRORS], count + len(wrong)
        right = [row for row in part if isinstance(row, SheetRow)]
        lines += len(right)
        with driver_of(connection).cursor() as cursor, cursor.copy(COPY) as copy:
            copy.write("".join(f"{row.line}\t{row.category}\t{row.prefix}\t{row.credits}\n" for row in right))
    for each in connection.execute(CONTRADICTIONS):
        count += 1
        detail = (
            f"Prefix {each.prefix or '*'} has the price {each.lowest:,} and the price {each.highest:,}"
            f" (lines {each.first:,} and {each.last:,})."
        )
        errors.append(SheetError(each.last, detail))
    if errors or not lines:
        raise BadSheet(errors[:MAX_ERRORS] or [SheetError(1, "The sheet has no prices.")], count or 1)
    return lines


def make_draft(connection: Connection, list_id: int, *, by: Actor | None = None) -> int:
    """Store the staged prices as a draft, once if lines repeat them. Returns the version's id."""
    lock_list(connection, list_id)
    old = select(VERSIONS.id).where(
        VERSIONS.list_id == list_id, VERSIONS.valid_from.is_(None), VERSIONS.created_at < func.now() - KEPT
    )
    connection.execute(delete(price).where(price.c.version_id.in_(old)))
    connection.execute(delete(price_version).where(VERSIONS.id.in_(old)))
    made = insert(price_version).values(list_id=list_id, prices=0).returning(VERSIONS.id)
    version_id: int = connection.execute(made).scalar_one()
    stored = connection.execute(STORE, {"version": version_id}).rowcount
    connection.execute(update(price_version).where(VERSIONS.id == version_id).values(prices=stored))
    record(connection, by, "price_list.uploaded", subject=list_id, after={"version": version_id, "prices": stored})
    return version_id
