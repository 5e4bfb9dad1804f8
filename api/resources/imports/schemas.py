"""Schemas of contact imports."""

from typing import Any

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.errors import fail
from api.schemas.examples import GROUP_ID, IMPORT_ID, IMPORT_NOTE, NOT_A_PHONE_IN_KENYA
from api.schemas.paging import Paging
from shared.sms.numbering import is_country

ASKED_LENGTH = fields.length(1, 2_000)
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
        "The country whose national number format the file uses; defaults to the account's.", "KE", pattern="^[A-Z]{2}$"
    )
    phone_column = fields.String(
        "The column of the phone numbers: its name, or its number from 1. Default: found.",
        "Mobile",
        validate=ASKED_LENGTH,
    )
    kept_fields = fields.String(
        "The columns or fields to keep, separated by commas, at most 30. Default: all, or the first 30 of more.",
        "first_name,city",
        data_key="fields",
        validate=ASKED_LENGTH,
    )


class ImportPaging(Paging):
    """Paging through imports, newest first."""

    group_id = fields.UUID("Only imports into this group.", GROUP_ID)


class ImportCountsResponse(Response):
    """Numbers of rows read so far, by outcome."""

    rows = fields.Integer("Rows read, without the header.", 50_000)
    added = fields.Integer("Contacts added to the group.", 49_000)
    changed = fields.Integer("Contacts whose fields or tags changed.", 600)
    unchanged = fields.Integer(
        "Rows of contacts that were in the group, also by an earlier row, and did not change.", 300
    )
    invalid = fields.Integer("Rows that are not valid contacts.", 100)


class ImportNoteResponse(Response):
    """What was done to rows so that they could be imported."""

    code = fields.String(
        "`several_phones`: of several phone numbers in a cell, the first is taken; `other_column`: the number is"
        " from another column; `value_cut`: a field is cut to 255 characters; `tag_cut`: a tag is cut to 50;"
        " `tags_left`: tags are left out, being over 20 or not printable; `no_consent`: the person has not"
        " agreed to marketing, says a column such as `Accepts SMS Marketing`.",
        "several_phones",
        one_of=NOTES,
    )
    rows = fields.Integer("How often.", 12)
    line = fields.Integer("The first such row's line in the file, from 1.", 3)


class ImportCountryResponse(Response):
    """The phone numbers of a country."""

    country = fields.String(
        "The country of the phone numbers, as in ISO 3166-1; null for those of no country.", "KE", allow_none=True
    )
    rows = fields.Integer("Imported rows.", 49_900)


class ImportResponse(Response):
    """An import of a CSV file of contacts into a group."""

    import_id = fields.UUID("The import.", IMPORT_ID, attribute="id")
    group_id = fields.UUID("The group.", GROUP_ID)
    status = fields.String(
        "Current status.", "running", attribute="state", one_of=["queued", "running", "completed", "failed", "canceled"]
    )
    country = fields.String(
        "The country whose national number format the file uses; null means international numbers only.",
        "KE",
        allow_none=True,
    )
    bytes = fields.Integer("The file's size in bytes of UTF-8.", 2_400_000)
    bytes_done = fields.Integer("Bytes read so far.", 1_200_000)
    counts = fields.Nested(
        ImportCountsResponse,
        "Numbers of rows read so far, by outcome.",
        {"rows": 50_000, "added": 49_000, "changed": 600, "unchanged": 300, "invalid": 100},
    )
    phone_column = fields.String(
        "The column of the phone numbers: its name, or without a header its number.", "Mobile", allow_none=True
    )
    fields_left = fields.List(fields.String(), "The columns that are not read, at most 100.", ["Notes"])
    notes = fields.List(fields.Nested(ImportNoteResponse), "What was cut, left or chosen so far.", [IMPORT_NOTE])
    countries = fields.List(
        fields.Nested(ImportCountryResponse),
        "The countries of the phone numbers imported so far, the most frequent first.",
        [{"country": "KE", "rows": 49_900}, {"country": "TZ", "rows": 100}],
    )
    error = fields.String("Why the import failed; null if it did not.", allow_none=True)
    errors_url = fields.String(
        "URL that lists the rows that are not valid contacts.", f"/api/v1/imports/{IMPORT_ID}/errors"
    )
    created_at = fields.Timestamp("When the upload was complete.", "2026-03-02T09:00:00.120Z")
    finished_at = fields.Timestamp("When it ended; null if it has not.", allow_none=True)


class ImportErrorResponse(Response):
    """A row that is not a valid contact."""

    line = fields.Integer("The row's first line in the file, from 1.", 3)
    value = fields.String("The row's phone number as given, cut to 40 characters.", "0712")
    code = fields.String(
        "Why it is not a valid contact. `suppressed`: the file says that the person has opted out.",
        "invalid_phone",
        one_of=["invalid_phone", "invalid", "suppressed"],
    )
    detail = fields.String("Human-readable reason.", NOT_A_PHONE_IN_KENYA)
