"""Contact imports: a file is stored during the upload, and then read by a worker."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, select

from api.auth.tokens import Caller
from api.commit.draft import encode
from api.endpoint import endpoint, key_of_request, services
from api.http.bounded_queries import filtered_page, reading_list
from api.http.csv import CSV_PAGE, export
from api.http.request import current_request
from api.http.responses import CsvResponse
from api.idempotency import IdempotentResponse, once
from api.problems import Problem
from api.resources.groups.routes import find_group
from api.resources.imports.schemas import ImportErrorResponse, ImportPaging, ImportQuery, ImportResponse
from api.resources.imports.upload import AskedColumns, check_upload, take_upload
from api.schemas.paging import by_number, newest_id
from shared.contacts import imports
from shared.db.connection import reading
from shared.db.tables import contacts as tables
from shared.sms.numbering import numbering_of

COLUMNS = tables.contact_import.c
FIELDS: tuple[ColumnElement[Any], ...] = (
    *COLUMNS["id", "group_id", "state", "country", "bytes", "bytes_done", "rows", "added", "changed"],
    *COLUMNS["unchanged", "invalid", "error"],
    *(COLUMNS.checkpoint[name].label(name) for name in ("phone_column", "fields_left", "notes", "countries")),
    COLUMNS.created_at,
    COLUMNS.finished_at,
)
OF_ACCOUNT = and_(COLUMNS.account_id == bindparam("account"), COLUMNS.state != "receiving")
ONE = select(*FIELDS).where(OF_ACCOUNT, COLUMNS.id == bindparam("id"))
ROW_ERROR = tables.import_error.c
ERRORS = (
    select(ROW_ERROR.line, ROW_ERROR.value, ROW_ERROR.code, ROW_ERROR.detail)
    .where(ROW_ERROR.import_id == bindparam("id"), ROW_ERROR.line > bindparam("after"))
    .order_by(ROW_ERROR.line)
    .limit(bindparam("limit"))
)


@endpoint(
    "POST",
    "/groups/<uuid:group_id>/import",
    query=ImportQuery,
    response=ImportResponse,
    errors=("unsupported_media_type", "payload_too_large", "import_limit"),
    scope="groups:write",
)
def import_contacts(caller: Caller, group_id: UUID, query: dict[str, Any]) -> IdempotentResponse:
    """Import a CSV file of up to 100 MB into a group, in the background.

    The body is the file, or a form (multipart/form-data) with the file. The file is in UTF-8 or UTF-16, or in
    another charset if the Content-Type declares it (`text/csv; charset=windows-1252`). The column of the phone numbers
    is found by its name and values, those of mobile phones before others; where that is not certain, the file is
    refused with the `candidates`, and `phone_column` names one. `tags` contains tags separated by semicolons or commas,
    and every other named column is a field. Of a file without a header, only the phone numbers are read.
    GET /imports/{import_id} shows the progress.
    """
    check_upload()
    engine = services().engine
    with reading(engine) as connection:
        group = find_group(connection, caller, group_id)
    country = query.get("country") or group.country
    fields = [name.strip() for name in query["kept_fields"].split(",")] if "kept_fields" in query else None
    asked = AskedColumns(query.get("phone_column"), fields)
    import_id = imports.begin_import(engine, caller.account_id, group_id, country)
    queued = False
    try:
        uploaded = take_upload(engine, import_id, numbering_of(country), asked)
        key = key_of_request(caller, {"sha256": uploaded.digest, **query})
        with engine.begin() as connection:

            def act() -> str:
                begun = uploaded.checkpoint.as_dict() if uploaded.checkpoint.delimiter else None
                imports.queue_import(connection, caller.account_id, import_id, uploaded.chunks, uploaded.size, begun)
                return encode(current_request().show(_import(_find(connection, caller, import_id))))

            stored_response = once(connection, key, act)
        queued = not stored_response.replayed
    finally:
        if not queued:
            imports.drop_import(engine, import_id)
    return stored_response


@endpoint("GET", "/imports", query=ImportPaging, pages=newest_id(ImportResponse), scope="groups:read")
def list_imports(caller: Caller, connection: Connection, query: dict[str, Any], before: UUID, limit: int) -> Any:
    """List the account's imports, newest first."""
    listed = select(*FIELDS).where(OF_ACCOUNT, COLUMNS.id < before).params(account=caller.account_id)
    filters = [COLUMNS.group_id == query["group_id"]] if "group_id" in query else []
    rows, end = filtered_page(connection, listed, [COLUMNS.id], filters, limit, newest_first=True)
    return list(map(_import, rows)), end


@endpoint("GET", "/imports/<uuid:import_id>", response=ImportResponse, scope="groups:read")
def get_import(caller: Caller, connection: Connection, import_id: UUID) -> Any:
    """Show the progress of an import."""
    return _import(_find(connection, caller, import_id))


@endpoint("GET", "/imports/<uuid:import_id>/errors", pages=by_number(ImportErrorResponse, "line"), scope="groups:read")
def list_import_errors(caller: Caller, connection: Connection, import_id: UUID, after: int, limit: int) -> Any:
    """List the rows that are not valid contacts, in order; with `Accept: text/csv`, stream all of them as CSV."""
    _find(connection, caller, import_id)
    if current_request().wants_csv:
        return _csv(import_id)
    return connection.execute(ERRORS, {"id": import_id, "after": after, "limit": limit}).all()


@endpoint(
    "POST",
    "/imports/<uuid:import_id>/cancel",
    response=ImportResponse,
    errors=("state_conflict",),
    scope="groups:write",
)
def cancel_import(caller: Caller, connection: Connection, import_id: UUID) -> Any:
    """Stop an import. Contacts imported so far stay in the group."""
    state = _find(connection, caller, import_id).state
    if not imports.cancel_import(connection, import_id) and state != "canceled":
        raise Problem("state_conflict", f"The import is {state} and cannot be canceled.")
    return _import(_find(connection, caller, import_id))


def _find(connection: Connection, caller: Caller, import_id: UUID) -> Row[Any]:
    row = connection.execute(ONE, {"account": caller.account_id, "id": import_id}).one_or_none()
    if row is None:
        raise Problem("import_not_found", f"Your account has no import {import_id}.")
    return row


def _csv(import_id: UUID) -> CsvResponse:
    engine = services().engine

    def read(after: int) -> tuple[Sequence[Any], int | None]:
        with reading_list(engine) as connection:
            rows = connection.execute(ERRORS, {"id": import_id, "after": after, "limit": CSV_PAGE}).all()
        return rows, rows[-1].line if len(rows) == CSV_PAGE else None

    return export(f"{import_id}.csv", ["line", "value", "code", "detail"], read, tuple, 0)


def _import(row: Any) -> dict[str, Any]:
    countries = sorted((row.countries or {}).items(), key=lambda each: (-each[1], each[0]))
    shown = {
        "notes": [{"code": code, "rows": rows, "line": line} for code, (rows, line) in (row.notes or {}).items()],
        "countries": [{"country": country or None, "rows": rows} for country, rows in countries],
        "fields_left": row.fields_left or [],
        "counts": row,
        "errors_url": f"/api/v1/imports/{row.id}/errors",
    }
    return {**row._mapping, **shown}
