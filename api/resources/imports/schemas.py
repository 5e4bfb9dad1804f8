"""Schemas of contact imports."""

from typing import Any

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.examples import GROUP_ID, IMPORT_ID, IMPORT_NOTE, NOT_A_PHONE_IN_KENYA
from api.schemas.fields import Request, doc
from api.schemas.paging import Paging
from shared.sms.numbering import is_country

ASKED_LENGTH = validate.Length(1, 2_000, error="Use {min} to {max} characters.")
NOTES = ("several_phones", "other_column", "value_cut", "tag_cut", "tags_left", "no_consent")


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
    phone_column = fields.String(
        validate=ASKED_LENGTH,
        metadata=doc("The column of the phone numbers: its name, or its number from 1. Default: found.", "Mobile"),
    )
    kept_fields = fields.String(
        data_key="fields",
        validate=ASKED_LENGTH,
        metadata=doc(
            "The columns or fields to keep, separated by commas, at most 30. Default: all, or the first 30 of more.",
            "first_name,city",
        ),
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


class ImportNoteResponse(Schema):
    """What was done to rows so that they could be imported."""

    code = fields.String(
        required=True,
        metadata=doc(
            "`several_phones`: of several phone numbers in a cell, the first is taken; `other_column`: the number is"
            " from another column; `value_cut`: a field is cut to 255 characters; `tag_cut`: a tag is cut to 50;"
            " `tags_left`: tags are left out, being over 20 or not printable; `no_consent`: the person has not"
            " agreed to marketing, says a column such as `Accepts SMS Marketing`.",
            "several_phones",
            enum=NOTES,
        ),
    )
    rows = fields.Integer(required=True, metadata=doc("How often.", 12))
    line = fields.Integer(required=True, metadata=doc("The first such row's line in the file, from 1.", 3))


class ImportCountryResponse(Schema):
    """The phone numbers of a country."""

    country = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The country of the phone numbers, as in ISO 3166-1; null for those of no country.", "KE"),
    )
    rows = fields.Integer(required=True, metadata=doc("Imported rows.", 49_900))


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
    phone_column = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The column of the phone numbers: its name, or without a header its number.", "Mobile"),
    )
    fields_left = fields.List(
        fields.String(), required=True, metadata=doc("The columns that are not read, at most 100.", ["Notes"])
    )
    notes = fields.List(
        fields.Nested(ImportNoteResponse),
        required=True,
        metadata=doc("What was cut, left or chosen so far.", [IMPORT_NOTE]),
    )
    countries = fields.List(
        fields.Nested(ImportCountryResponse),
        required=True,
        metadata=doc(
            "The countries of the phone numbers imported so far, the most frequent first.",
            [{"country": "KE", "rows": 49_900}, {"country": "TZ", "rows": 100}],
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
