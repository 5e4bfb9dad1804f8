"""Schemas of a group's contacts."""

from marshmallow import validate

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.entries import Entries, RejectedEntryResponse
from api.schemas.examples import GROUP_ID, OTHER_PHONE, PHONE, REJECTED_PHONE
from api.schemas.paging import Paging
from shared.contacts.fields import MAX_TAG_LENGTH

REJECTIONS = ["invalid_phone", "duplicate", "unknown_field", "wrong_type", "invalid", "too_long"]
"""Reasons why an entry is rejected."""


class ContactsBody(Request):
    """Contacts to add to a group: phone numbers, or objects with `phone`, `fields` and `tags`."""

    contacts = Entries(
        "1 to 100,000 contacts: phone numbers, or objects with `phone` and optionally `fields` (up to 30 texts by"
        " name, for placeholders) and `tags` (up to 20).",
        [PHONE, {"phone": OTHER_PHONE, "fields": {"name": "Ann"}, "tags": ["vip"]}],
        required=True,
        items={
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
    )


class PhonesBody(Request):
    """Phone numbers to remove from a group."""

    phones = Entries(
        "1 to 100,000 phone numbers, in international form or as written in the account's country.",
        [PHONE],
        required=True,
        items={"type": "string"},
    )


class ContactPaging(Paging):
    """Paging through a group's contacts, in the order in which they were added."""

    phone = fields.Phone("Only the contact with this phone number.", PHONE)
    tag = fields.String(
        "Only contacts with this tag.",
        "vip",
        validate=validate.Length(1, MAX_TAG_LENGTH, error="A tag has {min} to {max} characters."),
    )


class ContactResponse(Response):
    """A contact of a group."""

    phone = fields.String("Digits only, starting with the country code.", PHONE)
    contact_fields = fields.Dict(
        "Texts by name, for placeholders in messages.",
        {"name": "Ann", "city": "Nairobi"},
        keys=fields.String(),
        values=fields.String(),
        data_key="fields",
        attribute="fields",
    )
    tags = fields.List(fields.String(), "Labels to filter contacts by.", ["vip", "new"])


class ContactCountsResponse(Response):
    """Numbers of entries, by outcome."""

    submitted = fields.Integer("Entries in the request.", 5)
    added = fields.Integer("Contacts added to the group.", 2)
    changed = fields.Integer("Contacts whose fields or tags changed.", 1)
    unchanged = fields.Integer("Contacts that were already in the group and did not change.", 0)
    duplicate = fields.Integer("Entries whose phone number was listed before.", 1)
    invalid = fields.Integer("Invalid entries; see `rejected`.", 1)


class RejectedContactResponse(RejectedEntryResponse):
    """A rejected entry."""

    index = fields.Integer("The entry's index in `contacts`, from 0.", 3)
    code = fields.String("Why it was rejected.", "invalid_phone", one_of=REJECTIONS)
    duplicate_of = fields.Integer("The index of the phone number's first occurrence.", 0, required=False)


class PutContactsResponse(Response):
    """The valid contacts are now in the group."""

    group_id = fields.UUID("The group.", GROUP_ID)
    contact_count = fields.Integer("Contacts in the group.", 1234)
    counts = fields.Nested(ContactCountsResponse, "Numbers of added and rejected entries.")
    rejected = fields.List(
        fields.Nested(RejectedContactResponse), "The rejected entries, at most 1,000.", [REJECTED_PHONE]
    )
    rejected_truncated = fields.Boolean("Whether more were rejected than `rejected` lists.", True, required=False)


class RemovedContactsResponse(Response):
    """The phone numbers were removed from the group."""

    group_id = fields.UUID("The group.", GROUP_ID)
    contact_count = fields.Integer("Contacts in the group.", 1234)
    removed = fields.Integer("Contacts removed from the group.", 2)
    absent = fields.Integer("Phone numbers that were not in the group.", 1)
