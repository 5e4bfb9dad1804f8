"""Schemas of contact imports."""

from typing import Any

from marshmallow import Schema

from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.examples import GROUP_ID, IMPORT_ID, NOT_A_PHONE_IN_KENYA
from api.schemas.fields import Request, doc
from api.schemas.paging import Paging
from shared.sms.numbering import is_country


class Country(fields.String):
    """A country with a numbering plan, as two letters."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        code = super()._deserialize(value, attr, data, **kwargs)
        if not is_country(code):
            raise fail("invalid", "Use a country's two letters of ISO 3166-1, such as KE.")
        return code


class ImportQuery(Request):
    """How to read the file."""

    country = Country(
        metadata=doc(
            "The country whose national number format the file uses; defaults to the account's.",
            "KE",
            pattern="^[A-Z]{2}$",
        )
    )


class ImportPaging(Paging):
    """Paging through imports, newest first."""

    group_id = fields.UUID(metadata=doc("Only imports into this group.", GROUP_ID))


class ImportCountsResponse(Schema):
    """Numbers of rows read so far, by outcome."""

    rows = fields.Integer(required=True, metadata=doc("Rows read, without the header.", 50_000))
    added = fields.Integer(required=True, metadata=doc("Contacts added to the group.", 49_000))
    changed = fields.Integer(required=True, metadata=doc("Contacts whose fields or tags changed.", 600))
    unchanged = fields.Integer(
        required=True,
        metadata=doc("Rows of contacts that were in the group, also by an earlier row, and did not change.", 300),
    )
    invalid = fields.Integer(required=True, metadata=doc("Rows that are not valid contacts.", 100))


class ImportResponse(Schema):
    """An import of a CSV file of contacts into a group."""

    import_id = fields.UUID(required=True, attribute="id", metadata=doc("The import.", IMPORT_ID))
    group_id = fields.UUID(required=True, metadata=doc("The group.", GROUP_ID))
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc("Current status.", "running", enum=["queued", "running", "completed", "failed", "canceled"]),
    )
    country = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "The country whose national number format the file uses; null means international numbers only.", "KE"
        ),
    )
    bytes = fields.Integer(required=True, metadata=doc("The file's size in bytes of UTF-8.", 2_400_000))
    bytes_done = fields.Integer(required=True, metadata=doc("Bytes read so far.", 1_200_000))
    counts = fields.Nested(
        ImportCountsResponse,
        required=True,
        metadata=doc(
            "Numbers of rows read so far, by outcome.",
            {"rows": 50_000, "added": 49_000, "changed": 600, "unchanged": 300, "invalid": 100},
        ),
    )
    error = fields.String(required=True, allow_none=True, metadata=doc("Why the import failed; null if it did not."))
    errors_url = fields.String(
        required=True,
        metadata=doc("URL that lists the rows that are not valid contacts.", f"/api/v1/imports/{IMPORT_ID}/errors"),
    )
    created_at = fields.Timestamp(
        required=True, metadata=doc("When the upload was complete.", "2026-03-02T09:00:00.120Z")
    )
    finished_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it ended; null if it has not."))


class ImportErrorResponse(Schema):
    """A row that is not a valid contact."""

    line = fields.Integer(required=True, metadata=doc("The row's first line in the file, from 1.", 3))
    value = fields.String(required=True, metadata=doc("The row's phone number as given, cut to 40 characters.", "0712"))
    code = fields.String(
        required=True,
        metadata=doc("Why it is not a valid contact.", "invalid_phone", enum=["invalid_phone", "invalid"]),
    )
    detail = fields.String(required=True, metadata=doc("Human-readable reason.", NOT_A_PHONE_IN_KENYA))
