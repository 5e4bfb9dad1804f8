"""The prices of the account: of one phone number, or the whole list."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from api.accept.prices import NO_PRICE
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import reading_list
from api.http.csv import CSV_PAGE, export
from api.http.pagination import list_cursor, page
from api.http.request import current_request
from api.http.responses import CsvResponse
from api.problems import Problem, invalid
from api.resources.prices.schemas import PriceQuery, PricesResponse
from shared.prices.book import Version
from shared.prices.lists import list_prices
from shared.prices.price_table import ANY, WITHOUT_LIST, Price
from shared.sms.countries import country_of, country_prefix

COLUMNS = ("prefix", "country", "category", "price")
ONE_CREDIT_ANYWHERE = Price(WITHOUT_LIST, ANY, ANY)


@endpoint("GET", "/prices", query=PriceQuery, response=PricesResponse, errors=("no_price",), scope="balance:read")
def get_prices(caller: Caller, query: dict[str, Any]) -> dict[str, Any] | CsvResponse:
    """Show what a segment costs now, or at a later time, and next: to a phone number, or by the whole price list.

    With `Accept: text/csv`, the list is streamed as CSV. A send keeps the prices that were valid when it was accepted.
    """
    now = datetime.now(UTC)
    at = query.get("at", now)
    if at < now:
        raise invalid([{"pointer": "/at", "code": "invalid_time", "detail": "Give a time in the future."}])
    list_cursor(query.get("cursor"), 2)  # also where it is not needed, a wrong one is refused
    book = services().prices.book()
    version = book.version_of(caller.account_id, at)
    later = [] if version is None else book.announced(version.list_id, at)
    if "phone" in query:
        return _header(version) | _of_phone(version, later, query["phone"], str(query["category"]))
    prices = prices_of_version(version and version.id, query)
    if isinstance(prices, CsvResponse):
        return prices
    upcoming = {"version": later[0].id, "valid_from": later[0].valid_from} if later else None
    return _header(version) | {"next": upcoming} | prices


def prices_of_version(version_id: int | None, query: dict[str, Any]) -> dict[str, Any] | CsvResponse:
    """A page of a version's prices, or all as CSV. Without a version, a segment costs one credit."""
    engine = services().engine

    def read(after: Sequence[str] | None, limit: int = CSV_PAGE) -> tuple[list[Price], list[str] | None]:
        if version_id is None:
            return [ONE_CREDIT_ANYWHERE], None
        with reading_list(engine) as connection:
            prices = list_prices(connection, version_id, after, limit)
        return prices, [prices[-1].category, prices[-1].prefix] if len(prices) == limit else None

    if current_request().wants_csv:
        return export("prices.csv", COLUMNS, read, lambda row: ({**_entry(row), "prefix": row.prefix or "*"}).values())
    rows, _ = read(list_cursor(query.get("cursor"), 2), query["limit"] + 1)
    return page(rows, query["limit"], lambda row: json.dumps([row.category, row.prefix]), item=_entry)


def _entry(price: Price) -> dict[str, Any]:
    country = country_of(country_prefix(price.prefix)) if price.prefix else None
    entry = price.prefix or None, country, price.category or None, price.credits
    return dict(zip(COLUMNS, entry, strict=True))


def _header(version: Version | None) -> dict[str, Any]:
    if version is None:
        return {"list": None, "version": None, "valid_from": None}
    return {"list": version.list_name, "version": version.id, "valid_from": version.valid_from}


def _of_phone(version: Version | None, later: list[Version], phone: str, category: str) -> dict[str, Any]:
    table = services().prices.table
    found = table(version and version.id).find(phone, category)
    if found is None:
        raise Problem("no_price", NO_PRICE)
    upcoming = None
    for each in later:
        then = table(each.id).find(phone, category)
        if then is None or then.credits != found.credits:
            price = None if then is None else then.credits
            upcoming = {"version": each.id, "valid_from": each.valid_from, "price": price}
            break
    return {**_entry(found), "next": upcoming}
