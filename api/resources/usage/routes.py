"""Usage reports: counts of messages, by dimension."""

import json
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, select, text

from api.auth.tokens import Caller
from api.endpoint import endpoint, replica_reads
from api.http.csv import CSV_PAGE, export
from api.http.pagination import list_cursor, page
from api.http.request import current_request
from api.http.responses import CsvResponse
from api.resources.usage.schemas import DIMENSIONS, UsagePageResponse, UsageQuery
from shared.db.tables.usage import usage_hour
from shared.lifecycle import LANES

A_MONTH = timedelta(days=30)
COLUMNS = (*DIMENSIONS, "messages", "credits")
CATEGORIES = " ".join(f"WHEN {lane} THEN '{category}'" for lane, category in enumerate(LANES))

USAGE = text(
    f"""
    SELECT * FROM (
        SELECT CASE WHEN 'day' = ANY(:by) THEN to_char(u.began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') ELSE '' END AS day,
               CASE WHEN 'sender_id' = ANY(:by) THEN u.sender_id ELSE '' END AS sender_id,
               CASE WHEN 'country' = ANY(:by) THEN u.country ELSE '' END AS country,
               CASE WHEN 'category' = ANY(:by) THEN CASE u.lane {CATEGORIES} END ELSE '' END AS category,
               CASE WHEN 'status' = ANY(:by) THEN u.status::text ELSE '' END AS status,
               CAST(sum(u.messages) AS bigint) AS messages, CAST(sum(u.credits) AS bigint) AS credits
          FROM usage u
         WHERE u.account_id = :account AND u.began_at >= :since AND u.began_at < :until
           AND (CAST(:sender_id AS text) IS NULL OR u.sender_id = :sender_id)
           AND (CAST(:country AS text) IS NULL OR u.country = :country)
           AND (CAST(:lane AS int) IS NULL OR u.lane = :lane)
           AND (CAST(:status AS text) IS NULL OR u.status::text = :status)
         GROUP BY 1, 2, 3, 4, 5
    ) AS counted
     WHERE CAST(:after AS text[]) IS NULL
        OR (day, sender_id, country, category, status)
         > ((:after)[1], (:after)[2], (:after)[3], (:after)[4], (:after)[5])
     ORDER BY 1, 2, 3, 4, 5 LIMIT :limit
    """
)
"""Counts by the dimensions in `by`; the others are empty. SQL, as it groups, pages and filters by the same columns."""
COUNTED_AT = select(usage_hour.c.counted_at).order_by(usage_hour.c.began_at.desc()).limit(1)


@endpoint("GET", "/usage", query=UsageQuery, response=UsagePageResponse, scope="sms:read")
def get_usage(caller: Caller, query: dict[str, Any]) -> Any:
    """Count messages with a result by day, sender ID, country, category and status. Test sends are not counted.

    With `Accept: text/csv`, the whole report is streamed as CSV.
    """
    parameters = _parameters(caller, query)
    if current_request().wants_csv:
        return _csv(parameters)
    after = list_cursor(query.get("cursor"), len(DIMENSIONS))

    def read(connection: Connection) -> tuple[list[Row[Any]], datetime | None]:
        rows = _page(connection, parameters, after, query["limit"] + 1)
        return rows, connection.execute(COUNTED_AT).scalar()

    rows, counted_at = replica_reads().read(read)
    return page(rows, query["limit"], lambda row: json.dumps(_position(row)), item=_counts) | {"counted_at": counted_at}


def _parameters(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    today = datetime.now(UTC).date()
    category = query.get("category")
    return {
        "account": caller.account_id,
        "since": _midnight(query.get("since") or today - A_MONTH),
        "until": _midnight(query.get("until") or today) + timedelta(days=1),
        "by": query["by"],
        "sender_id": query.get("sender_id"),
        "country": query.get("country"),
        "lane": None if category is None else LANES.index(category),
        "status": query.get("status"),
    }


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _page(connection: Connection, parameters: dict[str, Any], after: list[str] | None, limit: int) -> list[Row[Any]]:
    return list(connection.execute(USAGE, {**parameters, "after": after, "limit": limit}).all())


def _position(row: Row[Any]) -> list[str]:
    return [getattr(row, name) for name in DIMENSIONS]


def _counts(row: Row[Any]) -> Any:
    return {**row._mapping, **{name: getattr(row, name) or None for name in DIMENSIONS}}


def _csv(parameters: dict[str, Any]) -> CsvResponse:
    reads = replica_reads()

    def read(after: list[str] | None) -> tuple[list[Row[Any]], list[str] | None]:
        rows = reads.read(partial(_page, parameters=parameters, after=after, limit=CSV_PAGE))
        return rows, _position(rows[-1]) if len(rows) == CSV_PAGE else None

    return export("usage.csv", COLUMNS, read, lambda row: [getattr(row, name) for name in COLUMNS])
