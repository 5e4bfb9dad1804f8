"""Schemas of a group's contacts."""

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.entries import Entries, RejectedEntryResponse
from api.schemas.examples import GROUP_ID, OTHER_PHONE, PHONE, REJECTED_PHONE
from api.schemas.fields import Request, doc
from api.schemas.paging import Paging
from shared.contacts.fields import MAX_TAG_LENGTH

REJECTIONS = ["invalid_phone", "duplicate", "unknown_field", "wrong_type", "invalid", "too_long"]
"""Reasons why an entry is rejected."""


class ContactsBody(Request):
    """Contacts to add to a group: phone numbers, or objects with `phone`, `fields` and `tags`."""

    contacts = Entries(
        required=True,
        metadata=doc(
            "1 to 100,000 contacts: phone numbers, or objects with `phone` and optionally `fields` (up to 30 texts by"
            " name, for placeholders) and `tags` (up to 20).",
            [PHONE, {"phone": OTHER_PHONE, "fields": {"name": "Ann"}, "tags": ["vip"]}],
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
        ),
    )


class PhonesBody(Request):
    """Phone numbers to remove from a group."""

    phones = Entries(
        required=True,
        metadata=doc(
            "1 to 100,000 phone numbers, in international form or as written in the account's country.",
            [PHONE],
            items={"type": "string"},
        ),
    )


class ContactPaging(Paging):
    """Paging through a group's contacts, in the order in which they were added."""

    phone = fields.Phone(metadata=doc("Only the contact with this phone number.", PHONE))
    tag = fields.String(
        validate=validate.Length(1, MAX_TAG_LENGTH, error="A tag has {min} to {max} characters."),
        metadata=doc("Only contacts with this tag.", "vip"),
    )


class ContactResponse(Schema):
    """A contact of a group."""

    phone = fields.String(required=True, metadata=doc("Digits only, starting with the country code.", PHONE))
    contact_fields = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        data_key="fields",
        attribute="fields",
        metadata=doc("Texts by name, for placeholders in messages.", {"name": "Ann", "city": "Nairobi"}),
    )
    tags = fields.List(fields.String(), required=True, metadata=doc("Labels to filter contacts by.", ["vip", "new"]))


class ContactCountsResponse(Schema):
    """Numbers of entries, by outcome."""

    submitted = fields.Integer(required=True, metadata=doc("Entries in the request.", 5))
    added = fields.Integer(required=True, metadata=doc("Contacts added to the group.", 2))
    changed = fields.Integer(required=True, metadata=doc("Contacts whose fields or tags changed.", 1))
    unchanged = fields.Integer(
        required=True, metadata=doc("Contacts that were already in the group and did not change.", 0)
    )
    duplicate = fields.Integer(required=True, metadata=doc("Entries whose phone number was listed before.", 1))
    invalid = fields.Integer(required=True, metadata=doc("Invalid entries; see `rejected`.", 1))


class RejectedContactResponse(RejectedEntryResponse):
    """A rejected entry."""

    index = fields.Integer(required=True, metadata=doc("The entry's index in `contacts`, from 0.", 3))
    code = fields.String(required=True, metadata=doc("Why it was rejected.", "invalid_phone", enum=REJECTIONS))
    duplicate_of = fields.Integer(metadata=doc("The index of the phone number's first occurrence.", 0))


class PutContactsResponse(Schema):
    """The valid contacts are now in the group."""

    group_id = fields.UUID(required=True, metadata=doc("The group.", GROUP_ID))
    contact_count = fields.Integer(required=True, metadata=doc("Contacts in the group.", 1234))
    counts = fields.Nested(ContactCountsResponse, required=True, metadata=doc("Numbers of added and rejected entries."))
    rejected = fields.List(
        fields.Nested(RejectedContactResponse),
        required=True,
        metadata=doc(
            "The rejected entries, at most 1,000.",
            [REJECTED_PHONE],
        ),
    )
    rejected_truncated = fields.Boolean(metadata=doc("Whether more were rejected than `rejected` lists.", True))


class RemovedContactsResponse(Schema):
    """The phone numbers were removed from the group."""

    group_id = fields.UUID(required=True, metadata=doc("The group.", GROUP_ID))
    contact_count = fields.Integer(required=True, metadata=doc("Contacts in the group.", 1234))
    removed = fields.Integer(required=True, metadata=doc("Contacts removed from the group.", 2))
    absent = fields.Integer(required=True, metadata=doc("Phone numbers that were not in the group.", 1))
