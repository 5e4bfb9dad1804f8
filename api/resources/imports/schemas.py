"""Imports, as requests."""

from typing import Any

from marshmallow import fields

from api.schemas.base import CanonicalUUID, Request, fail
from api.schemas.paging import Paging
from shared.sms.numbering import is_country


class Country(fields.String):
    """A country with phone numbers, by its two letters."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        code = super()._deserialize(value, attr, data, **kwargs)
        if not is_country(code):
            raise fail("invalid", "Give a country's two letters of ISO 3166-1, such as KE.")
        return code


class ImportQuery(Request):
    """How the file is to be read."""

    country = Country(metadata={"pattern": "^[A-Z]{2}$"})


class ImportPaging(Paging):
    """A page of the imports, newest first."""

    group_id = CanonicalUUID(metadata={"type": "string", "format": "uuid"})
