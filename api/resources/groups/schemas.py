"""Groups and their contacts, as requests."""

from typing import Any

from marshmallow import fields, validate

from api.schemas.base import Phone, Request, fail
from api.schemas.paging import Paging
from shared.contacts.fields import LONGEST_TAG

MOST_ENTRIES = 100_000
"""Contacts of one request."""
LONGEST_NAME = 100


class GroupName(fields.String):
    """A group's name: 1 to 100 printable characters, with no spaces at its ends."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        if not name.strip() or name.strip() != name or len(name) > LONGEST_NAME or not name.isprintable():
            raise fail("invalid", f"A name is 1 to {LONGEST_NAME} printable characters, without spaces at its ends.")
        return name


class Entries(fields.Field[list[object]]):
    """1 to 100,000 entries, as given; each one is checked later."""

    default_error_messages = {"invalid": "Not a valid list."}  # noqa: RUF012

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[object]:
        if not isinstance(value, list):
            raise fail("wrong_type", "Give a list.")
        if not value:
            raise fail("required", "List at least one.")
        if len(value) > MOST_ENTRIES:
            raise fail("too_long", f"{len(value):,} are given; one request takes at most {MOST_ENTRIES:,}.")
        return value


class GroupBody(Request):
    """A group to be, or its new name."""

    name = GroupName(required=True, metadata={"minLength": 1, "maxLength": LONGEST_NAME})


class ContactsBody(Request):
    """Contacts to put into a group: phones, or objects with `phone`, `fields` and `tags`."""

    contacts = Entries(
        required=True,
        metadata={
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_ENTRIES,
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "properties": {
                            "phone": {"type": "string"},
                            "fields": {"type": "object", "additionalProperties": {"type": "string"}},
                            "tags": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["phone"],
                        "additionalProperties": False,
                    },
                ]
            },
        },
    )


class PhonesBody(Request):
    """Phones to take out of a group."""

    phones = Entries(
        required=True,
        metadata={"type": "array", "minItems": 1, "maxItems": MOST_ENTRIES, "items": {"type": "string"}},
    )


class ContactPaging(Paging):
    """A page of a group's contacts, in the order in which they came."""

    phone = Phone()
    tag = fields.String(validate=validate.Length(1, LONGEST_TAG, error="A tag has {min} to {max} characters."))
