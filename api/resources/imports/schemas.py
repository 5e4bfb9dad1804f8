"""Imports of contacts."""

from typing import Any

from marshmallow import Schema

from api.schemas import fields
from api.schemas.base import Request
from api.schemas.errors import fail
from api.schemas.examples import GROUP_ID, IMPORT_ID, NOT_A_PHONE
from api.schemas.fields import doc
from api.schemas.paging import Paging
from shared.sms.numbering import is_country


class Country(fields.String):
    """A country with phone numbers, by its two letters."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        code = super()._deserialize(value, attr, data, **kwargs)
        if not is_country(code):
            raise fail("invalid", "Use a country's two letters of ISO 3166-1, such as KE.")
        return code


class ImportQuery(Request):
    """How the file is to be read."""

    country = Country(
        metadata=doc(
            "The country in whose way the file writes numbers; the account's, unless said.", "KE", pattern="^[A-Z]{2}$"
        )
    )


class ImportPaging(Paging):
    """A page of the imports, newest first."""

    group_id = fields.UUID(metadata=doc("Only imports into this group.", GROUP_ID))


class ImportCountsResponse(Schema):
    """What became of the rows so far."""

    rows = fields.Integer(required=True, metadata=doc("Rows that were read, without the header.", 50_000))
    added = fields.Integer(required=True, metadata=doc("Contacts that are new in the group.", 49_000))
    changed = fields.Integer(required=True, metadata=doc("Contacts of the group that got other fields or tags.", 600))
    unchanged = fields.Integer(required=True, metadata=doc("Contacts that were in the group as they are.", 300))
    invalid = fields.Integer(required=True, metadata=doc("Rows that are no contacts.", 100))


class ImportResponse(Schema):
    """A file of contacts on its way into a group."""

    import_id = fields.UUID(required=True, attribute="id", metadata=doc("The import.", IMPORT_ID))
    group_id = fields.UUID(required=True, metadata=doc("The group.", GROUP_ID))
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc("Where it is.", "running", enum=["queued", "running", "completed", "failed", "canceled"]),
    )
    country = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The country in whose way the file writes numbers; null: only international ones are read.", "KE"),
    )
    bytes = fields.Integer(required=True, metadata=doc("The file's size, as UTF-8.", 2_400_000))
    bytes_done = fields.Integer(required=True, metadata=doc("How much of it was read.", 1_200_000))
    counts = fields.Nested(
        ImportCountsResponse,
        required=True,
        metadata=doc(
            "What became of the rows so far.",
            {"rows": 50_000, "added": 49_000, "changed": 600, "unchanged": 300, "invalid": 100},
        ),
    )
    error = fields.String(required=True, allow_none=True, metadata=doc("Of a failed import: why."))
    errors_url = fields.String(
        required=True,
        metadata=doc("Where the rows that are no contacts are listed.", f"/api/v1/imports/{IMPORT_ID}/errors"),
    )
    created_at = fields.Timestamp(
        required=True, metadata=doc("When the file was complete.", "2026-03-02T09:00:00.120Z")
    )
    finished_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it ended."))


class ImportErrorResponse(Schema):
    """A row that is no contact."""

    line = fields.Integer(required=True, metadata=doc("The row's first line in the file, from 1.", 3))
    value = fields.String(required=True, metadata=doc("The row's phone as it was given, cut to 40 characters.", "0712"))
    code = fields.String(
        required=True, metadata=doc("Why it is no contact.", "invalid_phone", enum=["invalid_phone", "invalid"])
    )
    detail = fields.String(required=True, metadata=doc("Why, for people.", NOT_A_PHONE))
