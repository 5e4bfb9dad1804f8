"""Exports of messages: begun here, made by a worker, and streamed chunk by chunk."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, select

from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import reading_list
from api.http.responses import CsvResponse
from api.problems import Problem
from api.resources.exports.schemas import DeletedExportResponse, ExportRequest, ExportResponse
from api.resources.messages.schemas import MessageResponse
from api.schemas.paging import list_of
from shared.db.tables.messages import export_chunk, message_export
from shared.job_backoff import is_set_aside
from shared.messages.exports import begin_export, delete_exports

EXPORTS, CHUNKS = message_export.c, export_chunk.c
OF_ACCOUNT = select(message_export, is_set_aside("export", EXPORTS.id).label("failed")).where(
    EXPORTS.account_id == bindparam("account")
)
ONE = OF_ACCOUNT.where(EXPORTS.id == bindparam("id"))
CHUNK = select(CHUNKS.content).where(CHUNKS.export_id == bindparam("id"), CHUNKS.number == bindparam("number"))
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}


@endpoint("POST", "/exports", body=ExportRequest, response=ExportResponse, errors=("export_limit",), scope="sms:read")
def export_messages(caller: Caller, connection: Connection, body: dict[str, Any]) -> Any:
    """Export any number of messages to a file, newest send first, in the background.

    GET /exports/{export_id} shows the progress. Messages accepted later are not in it.
    """
    filters = {name: value for name, value in body.items() if name != "format"}
    return _find(connection, caller, begin_export(connection, caller.account_id, body["format"], filters))


@endpoint("GET", "/exports", response=list_of(ExportResponse), scope="sms:read")
def list_exports(caller: Caller, connection: Connection) -> Any:
    """List the account's exports, newest first: at most ten."""
    rows = connection.execute(OF_ACCOUNT.order_by(EXPORTS.created_at.desc()), {"account": caller.account_id})
    return {"data": [_shown(row) for row in rows]}


@endpoint("GET", "/exports/<uuid:export_id>", response=ExportResponse, scope="sms:read")
def get_export(caller: Caller, connection: Connection, export_id: UUID) -> Any:
    """Show the progress of an export."""
    return _find(connection, caller, export_id)


@endpoint("DELETE", "/exports/<uuid:export_id>", response=DeletedExportResponse, scope="sms:read")
def delete_export(caller: Caller, connection: Connection, export_id: UUID) -> Any:
    """Delete an export with its file, or stop one that is running."""
    _find(connection, caller, export_id)
    delete_exports(connection, EXPORTS.id == export_id)
    return {"export_id": export_id, "deleted": True}


@endpoint(
    "GET", "/exports/<uuid:export_id>/file", response=MessageResponse, errors=("state_conflict",), scope="sms:read"
)
def get_export_file(caller: Caller, connection: Connection, export_id: UUID) -> CsvResponse:
    """Stream the file of a completed export, in its format: CSV, or a line of JSON for each message."""
    engine, export = services().engine, _find(connection, caller, export_id)
    if export["status"] != "completed":
        raise Problem("state_conflict", f"The export is {export['status']} and has no file yet.")

    def chunks() -> Iterator[str]:
        for number in range(export["chunks"]):
            with reading_list(engine) as connection:
                yield connection.execute(CHUNK, {"id": export_id, "number": number}).scalar_one()

    return CsvResponse(chunks(), f"{export_id}.{export['format']}", MEDIA_TYPES[export["format"]])


def _find(connection: Connection, caller: Caller, export_id: UUID) -> dict[str, Any]:
    row = connection.execute(ONE, {"account": caller.account_id, "id": export_id}).one_or_none()
    if row is None:
        raise Problem("export_not_found", f"Your account has no export {export_id}.")
    return _shown(row)


def _shown(row: Row[Any]) -> dict[str, Any]:
    status = "completed" if row.finished_at else "failed" if row.failed else "running"
    return {**row._mapping, "status": status, "file_url": f"/api/v1/exports/{row.id}/file"}
