"""Exports of messages: begun here, made by a worker, and streamed chunk by chunk."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, bindparam, select

from api.act_once import act_once
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import reading_list
from api.http.responses import CsvResponse
from api.idempotency import IdempotentResponse
from api.problems import Problem
from api.resources.exports.schemas import ExportRequest, ExportResponse
from api.resources.messages.schemas import MessageResponse
from shared.db.connection import reading
from shared.db.tables.messages import export_chunk, message_export
from shared.messages.exports import begin_export

EXPORTS, CHUNKS = message_export.c, export_chunk.c
ONE = select(message_export).where(EXPORTS.account_id == bindparam("account"), EXPORTS.id == bindparam("id"))
CHUNK = select(CHUNKS.content).where(CHUNKS.export_id == bindparam("id"), CHUNKS.number == bindparam("number"))
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}


@endpoint("POST", "/exports", body=ExportRequest, response=ExportResponse, errors=("export_limit",), scope="sms:read")
def export_messages(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Export any number of messages to a file, newest send first, in the background.

    GET /exports/{export_id} shows the progress. Messages accepted later are not in it.
    """

    def act(connection: Connection) -> dict[str, Any]:
        filters = {name: value for name, value in body.items() if name != "format"}
        export_id = begin_export(connection, caller.account_id, body["format"], filters)
        return _find(connection, caller, export_id)

    return act_once(caller, body, act)


@endpoint("GET", "/exports/<uuid:export_id>", response=ExportResponse, scope="sms:read")
def get_export(caller: Caller, export_id: UUID) -> Any:
    """Show the progress of an export."""
    with reading(services().engine) as connection:
        return _find(connection, caller, export_id)


@endpoint(
    "GET", "/exports/<uuid:export_id>/file", response=MessageResponse, errors=("state_conflict",), scope="sms:read"
)
def get_export_file(caller: Caller, export_id: UUID) -> CsvResponse:
    """Stream the file of a completed export, in its format: CSV, or a line of JSON for each message."""
    engine = services().engine
    with reading(engine) as connection:
        export = _find(connection, caller, export_id)
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
    status = "completed" if row.finished_at else "running"
    return {**row._mapping, "status": status, "file_url": f"/api/v1/exports/{row.id}/file"}
