"""Price lists: their versions, and the accounts that have them."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from api.act_once import need_account, transaction_of
from api.auth.operator_tokens import Operator
from api.commit.draft import encode
from api.endpoint import key_of_request, operator_endpoint, services
from api.http.request import current_request
from api.http.responses import CsvResponse
from api.http.uploaded_file import CSV_TYPES, UploadedFile, check_media_type, chunks_of_file, open_file
from api.idempotency import IdempotentResponse, once
from api.operator.prices.schemas import (
    NewPriceAssignment,
    NewPriceList,
    PriceAssignmentResponse,
    PriceListDetailsResponse,
    PriceListResponse,
    PriceVersionDetailsResponse,
    Publishing,
)
from api.problems import invalid
from api.resources.imports.upload import MAX_UPLOAD_BYTES, hashed
from api.resources.prices.routes import prices_of_version
from api.resources.prices.schemas import PricePageResponse
from api.schemas.base import Request
from api.schemas.paging import Paging, by_number
from shared.accounts.audit_log import Actor
from shared.db.connection import reading
from shared.prices import lists
from shared.prices.drafts import make_draft, stage
from shared.prices.kept_unit import check_unit
from shared.prices.sheet import BadSheet, read_sheet


@operator_endpoint("GET", "/price-lists", pages=by_number(PriceListResponse), scope="read")
def list_price_lists(connection: Connection, after: int, limit: int) -> Any:
    """List the price lists by id, with the accounts that have them."""
    return lists.list_lists(connection, after=after, limit=limit)


@operator_endpoint("POST", "/price-lists", body=NewPriceList, response=PriceListDetailsResponse, scope="money")
def create_price_list(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Create a list, without prices. Next, import a sheet, publish it, and give the list to accounts."""
    return lists.show_list(connection, lists.create_list(connection, body["name"], carrier=body.get("carrier"), by=by))


@operator_endpoint("GET", "/price-lists/<int:list_id>", response=PriceListDetailsResponse, scope="read")
def get_price_list(connection: Connection, list_id: int) -> Any:
    """Show a list with its versions."""
    return lists.show_list(connection, list_id)


@operator_endpoint(
    "POST",
    "/price-lists/<int:list_id>/import",
    response=PriceVersionDetailsResponse,
    errors=("payload_too_large", "unsupported_media_type"),
    scope="money",
)
def import_prices(caller: Operator, by: Actor, list_id: int) -> IdempotentResponse:
    """Import a sheet as a draft, and show what it would change. Nothing costs more until it is published.

    The sheet is CSV with the columns `prefix` (or `country`), `price` and `category`, and has all prices of the
    version: what it leaves out is removed. A draft that is not published is deleted after a week.
    """
    with reading(services().engine) as connection:
        lists.show_list(connection, list_id)
    check_media_type(CSV_TYPES, MAX_UPLOAD_BYTES)
    sha = hashlib.sha256()
    file = open_file(MAX_UPLOAD_BYTES)
    chunks = chunks_of_file(UploadedFile(hashed(file.blocks, sha), file.encoding))
    with transaction_of(caller) as connection, _sheet():
        check_unit(connection, services().settings.unit)
        stage(connection, read_sheet(chunks, services().settings.unit))
        key = key_of_request(caller, {"sha256": sha.hexdigest()})

        def make() -> str:
            made = make_draft(connection, list_id, by=by)
            return encode(current_request().show(_version(connection, made)))

        return once(connection, key, make)


@operator_endpoint("GET", "/price-versions/<int:version_id>", response=PriceVersionDetailsResponse, scope="read")
def get_price_version(version_id: int) -> Any:
    """Show a version, and what it changes compared with the one before it."""
    with services().engine.begin() as connection:
        return _version(connection, version_id)


@operator_endpoint(
    "GET", "/price-versions/<int:version_id>/prices", query=Paging, response=PricePageResponse, scope="read"
)
def list_version_prices(version_id: int, query: dict[str, Any]) -> dict[str, Any] | CsvResponse:
    """List the prices of a version; with `Accept: text/csv`, as a sheet that can be imported."""
    with reading(services().engine) as connection:
        lists.find_version(connection, version_id)
    return prices_of_version(version_id, query)


@operator_endpoint(
    "POST",
    "/price-versions/<int:version_id>/publish",
    body=Publishing,
    response=PriceListDetailsResponse,
    scope="money",
)
def publish_price_version(connection: Connection, by: Actor, version_id: int, body: dict[str, Any]) -> Any:
    """Publish a draft. If it raises or removes prices of accounts, it is valid after PRICE_NOTICE_DAYS at the earliest.

    Otherwise it can be valid after a minute. Of versions that begin at one moment, the last one published is valid.
    Shows its list.
    """
    list_id, days = lists.find_version(connection, version_id).list_id, services().settings.price_notice_days
    lists.publish(connection, version_id, body.get("valid_from"), notice_days=days, by=by)
    return lists.show_list(connection, list_id)


@operator_endpoint(
    "POST", "/price-versions/<int:version_id>/withdraw", body=Request, response=PriceListDetailsResponse, scope="money"
)
def withdraw_price_version(connection: Connection, by: Actor, version_id: int, body: dict[str, Any]) -> Any:
    """Withdraw a version that is not valid yet, or delete a draft. Shows its list."""
    list_id = lists.find_version(connection, version_id).list_id
    lists.withdraw(connection, version_id, by=by)
    return lists.show_list(connection, list_id)


@operator_endpoint(
    "POST", "/price-assignments", body=NewPriceAssignment, response=PriceAssignmentResponse, scope="money"
)
def assign_price_list(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Give an account a list, or set the default of accounts without one. It is valid after a minute."""
    if body["account_id"] is not None:
        need_account(connection, body["account_id"])
    return {**body, "valid_from": lists.assign(connection, body["account_id"], body["list_id"], by=by)}


def _version(connection: Connection, version_id: int) -> dict[str, Any]:
    return lists.show_version(connection, version_id, services().settings.price_notice_days)


@contextmanager
def _sheet() -> Iterator[None]:
    """Turn mistakes of a sheet into a `validation_failed` that names their lines."""
    try:
        yield
    except BadSheet as bad:
        errors = [
            {"pointer": f"/lines/{each.line - 1}", "code": "invalid", "detail": f"Line {each.line:,}: {each.detail}"}
            for each in bad.errors
        ]
        problem = invalid(errors)
        problem.members["errors_total"] = bad.count
        raise problem from None
