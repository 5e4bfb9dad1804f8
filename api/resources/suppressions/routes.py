"""The opt-out list: phones that the account may not send to."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Column, Connection, Row, bindparam, func, select, tuple_

from api.act_once import act_once
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import filtered_page, reading_list
from api.http.csv import CSV_PAGE, export, read_csv
from api.http.json_body import LARGE_BODY
from api.http.pagination import bad_cursor, from_cursor, page
from api.http.request import current_request
from api.http.responses import CsvResponse
from api.idempotency import IdempotentResponse
from api.problems import Problem
from api.resources.suppressions.entries import OptOut, of_csv, put, read_opt_outs
from api.resources.suppressions.schemas import (
    ScopeQuery,
    SuppressedResponse,
    SuppressionImportQuery,
    SuppressionPaging,
    SuppressionResponse,
    SuppressionsBody,
    UnsuppressedResponse,
)
from api.schemas.entries import MAX_ENTRIES
from api.schemas.fields import timestamp
from api.schemas.paging import page_of
from shared.accounts.audit_log import Actor
from shared.contacts.suppressions import POSSIBLE, Scope, unsuppress
from shared.db.connection import reading
from shared.db.expressions import in_constants
from shared.db.tables import contacts as tables
from shared.db.tables.accounts import account
from shared.sms.numbering import Numbering, numbering_of
from shared.sms.phones import is_phone

SUPPRESSION = tables.suppression.c
POSITION = (SUPPRESSION.phone, SUPPRESSION.category, SUPPRESSION.sender_id)
FIELDS: tuple[Column[Any], ...] = (*POSITION, SUPPRESSION.reason, SUPPRESSION.created_at)
FILTERS = (SUPPRESSION.category, SUPPRESSION.reason)
"""By which no index finds rows, so that all of the account's must be examined."""
COUNTRY = select(account.c.country).where(account.c.id == bindparam("account"))
IS_POSSIBLE = in_constants(SUPPRESSION.reason, POSSIBLE)
CSV_HEADER = ("phone", "category", "sender_id", "reason", "created_at")


Position = tuple[int, str, str]
"""Phone, category and sender ID: where a page ends."""
FIRST: Position = (0, "", "")


@endpoint(
    "GET", "/suppressions", query=SuppressionPaging, response=page_of(SuppressionResponse), scope="suppressions:read"
)
def list_suppressions(caller: Caller, query: dict[str, Any]) -> Any:
    """List the opt-outs, ordered by phone number; with `Accept: text/csv`, stream all of them as CSV."""
    after = _position(query["cursor"]) if "cursor" in query else FIRST
    if current_request().wants_csv:
        return _csv(caller, query, after, _numbering(caller))
    with reading_list(services().engine) as connection:
        rows, end = _page(connection, caller, query, after, query["limit"] + 1)
    return page(rows, query["limit"], _place, item=_suppression, end=end)


@endpoint(
    "POST",
    "/suppressions",
    body=SuppressionsBody,
    response=SuppressedResponse,
    errors=("suppression_limit",),
    scope="suppressions:write",
    large=True,
)
def create_suppressions(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Add up to 100,000 phone numbers to the opt-out list, for all messages, one category, one sender ID, or both.

    The list is checked when a send is accepted and again before its messages are submitted. A phone number that has
    opted out is not charged for. Invalid entries are reported in `rejected`; the others are accepted.
    """
    entries = [
        OptOut(phone, body["reason"], body.get("category", ""), body.get("sender_id", "")) for phone in body["phones"]
    ]
    return _put(caller, body, entries, _numbering(caller))


@endpoint(
    "POST",
    "/suppressions/import",
    query=SuppressionImportQuery,
    response=SuppressedResponse,
    errors=("too_many_recipients", "payload_too_large", "unsupported_media_type", "suppression_limit"),
    scope="suppressions:write",
)
def import_suppressions(caller: Caller, query: dict[str, Any]) -> IdempotentResponse:
    """Add the rows of a CSV file to the opt-out list.

    The columns are those of the CSV export of GET; only that of the phone numbers is required, and is found as in an
    import of contacts. Of several numbers of a person, all are added. The body is the file, or a form
    (multipart/form-data) with the file: up to 100,000 rows and 8 MB. A row with an unknown `category` or `sender_id`
    opts out of everything. Invalid rows, and rows of whom a column such as `Opted Out` says the opposite, are reported
    in `rejected`; the others are accepted.
    """
    numbering = _numbering(caller)
    rows = list(read_csv(LARGE_BODY, MAX_ENTRIES, numbering, query.get("phone_column")))
    return _put(caller, {"rows": rows}, map(of_csv, rows), numbering)


@endpoint(
    "DELETE", "/suppressions/<phone:phone>", query=ScopeQuery, response=UnsuppressedResponse, scope="suppressions:write"
)
def delete_suppression(caller: Caller, connection: Connection, by: Actor, phone: str, query: dict[str, Any]) -> Any:
    """Remove a phone number from the opt-out list; with `category`, `sender_id` or `everything`, only that opt-out."""
    scope = Scope(query.get("category", ""), query.get("sender_id", "")) if any(query.values()) else None
    phone = phone.removeprefix("+")
    removed = unsuppress(connection, caller.account_id, phone, scope, by=by) if is_phone(phone) else 0
    if not removed:
        raise Problem("suppression_not_found", f"{phone[:40]!r} is not on the opt-out list of your account.")
    return {"phone": phone, "removed": removed}


def _numbering(caller: Caller) -> Numbering:
    with reading(services().engine) as connection:
        return numbering_of(connection.execute(COUNTRY, {"account": caller.account_id}).scalar())


def _put(caller: Caller, body: dict[str, Any], entries: Iterable[OptOut], numbering: Numbering) -> IdempotentResponse:
    # Before the transaction, which would otherwise stay open during the parsing.
    read = read_opt_outs(entries, numbering)
    return act_once(caller, body, lambda connection: put(connection, caller.account_id, read))


def _position(cursor: str) -> Position:
    phone, _, rest = from_cursor(cursor).partition("|")
    category, bar, sender = rest.partition("|")
    if not (is_phone(phone) and bar):
        raise bad_cursor()
    return int(phone), category, sender


def _page(
    connection: Connection, caller: Caller, query: dict[str, Any], after: Position, limit: int
) -> tuple[Sequence[Row[Any]], Row[Any] | None]:
    """A page of entries, and the last row examined if the filters have not examined all."""
    listed = select(*FIELDS).where(SUPPRESSION.account_id == caller.account_id, tuple_(*POSITION) > tuple_(*after))
    filters = [column == query[column.name] for column in FILTERS if column.name in query]
    if "sender_id" in query:
        filters.append(func.lower(SUPPRESSION.sender_id) == func.lower(query["sender_id"]))
    if "phone" in query:
        listed = listed.where(SUPPRESSION.phone == int(query["phone"]))
    if query.get("reason") == POSSIBLE:
        listed, filters = listed.where(IS_POSSIBLE, *filters), []  # these are few, and found by an index
    return filtered_page(connection, listed, POSITION, filters, limit)


def _csv(caller: Caller, query: dict[str, Any], after: Position, numbering: Numbering) -> CsvResponse:
    engine = services().engine

    def read(after: Position) -> tuple[Sequence[Row[Any]], Position | None]:
        with reading_list(engine) as connection:
            rows, end = _page(connection, caller, query, after, CSV_PAGE)
        last = rows[-1] if len(rows) == CSV_PAGE else end
        return rows, None if last is None else (last.phone, last.category, last.sender_id)

    def values(row: Row[Any]) -> list[object]:
        phone = numbering.as_listed(row.phone)
        return [phone, row.category, row.sender_id, row.reason, timestamp(row.created_at)]

    return export("suppressions.csv", CSV_HEADER, read, values, after)


def _place(row: Any) -> str:
    return f"{row.phone}|{row.category}|{row.sender_id}"


def _suppression(row: Any) -> Any:
    return {**row._mapping, "category": row.category or None, "sender_id": row.sender_id or None}
