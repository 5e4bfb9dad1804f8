"""The report of margins."""

import json
from typing import Any

from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.csv import CSV_PAGE, export
from api.http.pagination import list_cursor, page
from api.http.request import current_request
from api.operator.margin.schemas import MarginQuery, MarginResponse
from api.schemas.paging import page_of
from shared.prices.margin import COLUMNS, DIMENSIONS, margin, position


@operator_endpoint("GET", "/margin", query=MarginQuery, response=page_of(MarginResponse), scope="read")
def get_margin(query: dict[str, Any]) -> Any:
    """Report what messages brought and cost, by day, account, country and carrier.

    Counted are messages that carriers accepted, in hours in which a carrier has costs.
    With `Accept: text/csv`, the whole report is streamed as CSV.
    """
    engine, limit = services().engine, query["limit"]
    days = {name: query.get(name) for name in ("since", "until")}

    def read(after: list[str] | None, limit: int = CSV_PAGE) -> tuple[list[dict[str, Any]], list[str] | None]:
        with reading_list(engine) as connection:
            rows = margin(connection, query["by"], after=after, limit=limit, **days)
        return rows, position(rows[-1]) if len(rows) == limit else None

    if current_request().wants_csv:
        return export("margin.csv", COLUMNS, read, dict.values)
    rows, _ = read(list_cursor(query.get("cursor"), len(DIMENSIONS)), limit + 1)
    return page(rows, limit, lambda row: json.dumps(position(row)))
