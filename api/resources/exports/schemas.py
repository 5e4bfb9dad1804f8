"""Schemas of exports."""

from api.resources.messages.schemas import MessageFilters, status_filter
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import ACCEPTED_AT, DELIVERED_AT, EXPORT_ID

FORMATS = ("csv", "ndjson")


class ExportRequest(MessageFilters):
    """What to export: all messages, or those that match."""

    format = fields.Choice(FORMATS, "CSV, or a line of JSON for each message.", "csv", load_default="csv")
    status = status_filter()
    permanent = fields.StrictBoolean("Only messages with a permanent error, or with false a temporary one.", True)


class ExportResponse(Response):
    """An export of messages. It is deleted a week after it was requested."""

    export_id = fields.UUID("The export.", EXPORT_ID, attribute="id")
    status = fields.String(
        "`failed`: the operator has to retry it.", "completed", one_of=["running", "completed", "failed"]
    )
    format = fields.String("The format of the file.", "csv", one_of=FORMATS)
    rows = fields.Integer("Messages found so far.", 1_200_000)
    reached_at = fields.Timestamp(
        "When the last message found so far was accepted; newer ones come first.", ACCEPTED_AT, allow_none=True
    )
    file_url = fields.String("URL of the file.", f"/api/v1/exports/{EXPORT_ID}/file")
    created_at = fields.Timestamp("When it was requested.", ACCEPTED_AT)
    finished_at = fields.Timestamp("When it was complete; null while it is running.", DELIVERED_AT, allow_none=True)


class DeletedExportResponse(Response):
    """The export is deleted, with its file."""

    export_id = fields.UUID("The export.", EXPORT_ID)
    deleted = fields.Boolean("The export is deleted.", True)
