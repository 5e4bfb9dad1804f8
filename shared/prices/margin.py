"""Reports what messages that carriers accepted brought, and what they cost."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from sqlalchemy import Connection, text

DIMENSIONS: Final = ("day", "account", "country", "carrier")
"""What messages are grouped by, in the order of the report."""
A_MONTH: Final = timedelta(days=30)

MARGIN = text(
    """
    SELECT *, credits_costed - cost AS margin FROM (
        SELECT CASE WHEN 'day' = ANY(:by) THEN to_char(m.began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') ELSE '' END AS day,
               CASE WHEN 'account' = ANY(:by) THEN a.name ELSE '' END AS account,
               CASE WHEN 'country' = ANY(:by) THEN m.country ELSE '' END AS country,
               CASE WHEN 'carrier' = ANY(:by) THEN m.carrier ELSE '' END AS carrier,
               CASE WHEN 'account' = ANY(:by) THEN min(a.id) END AS account_id,
               CAST(sum(m.messages) AS bigint) AS messages, CAST(sum(m.credits) AS bigint) AS credits,
               CAST(sum(m.cost) FILTER (WHERE m.costed) AS bigint) AS cost,
               CAST(sum(m.credits) FILTER (WHERE m.costed) AS bigint) AS credits_costed,
               CAST(coalesce(sum(m.messages) FILTER (WHERE NOT m.costed), 0) AS bigint) AS messages_without_cost
          FROM margin m JOIN account a ON a.id = m.account_id
         WHERE a.sandbox_of IS NULL AND m.began_at >= :since AND m.began_at < :until
         GROUP BY 1, 2, 3, 4
    ) AS counted
     WHERE CAST(:after AS text[]) IS NULL
        OR (day, account, country, carrier) > ((:after)[1], (:after)[2], (:after)[3], (:after)[4])
     ORDER BY 1, 2, 3, 4 LIMIT :limit
    """
)
"""By the dimensions in `by`; the others are empty. SQL, as it groups and pages by the same columns."""
NUMBERS: Final = ("messages", "credits", "cost", "margin", "messages_without_cost")
COLUMNS: Final = ("day", "account_id", *DIMENSIONS[1:], *NUMBERS)


def margin(
    connection: Connection,
    by: Sequence[str],
    *,
    since: date | None = None,
    until: date | None = None,
    after: list[str] | None = None,
    limit: int | None = None,
) -> list[dict[str, Any]]:
    """Rows of COLUMNS, in the order of the DIMENSIONS in `by`; the other dimensions are None.

    `since` and `until` are the first and the last day in UTC, by default of the last 30 days. `after` is the `position`
    of the row before the first. `cost` and `margin` are of the messages whose cost is known; None if there are none.
    """
    today = datetime.now(UTC).date()
    first, end = since or today - A_MONTH, (until or today) + timedelta(days=1)
    span = {"since": datetime.combine(first, time.min, UTC), "until": datetime.combine(end, time.min, UTC)}
    rows = connection.execute(MARGIN, {**span, "by": list(by), "after": after, "limit": limit}).mappings()
    return [{name: None if row[name] == "" else row[name] for name in COLUMNS} for row in rows]


def position(row: dict[str, Any]) -> list[str]:
    """The dimensions of a row, for `after`."""
    return [row[name] or "" for name in DIMENSIONS]
