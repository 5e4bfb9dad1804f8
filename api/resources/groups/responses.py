"""Groups and contacts, as answers."""

from marshmallow import Schema, fields

from api.schemas.responses import RejectedEntryAnswer


class GroupAnswer(Schema):
    """A contact group."""

    group_id = fields.UUID(required=True)
    name = fields.String(required=True)
    contact_count = fields.Integer(required=True)
    created_at = fields.String(required=True)
    updated_at = fields.String(required=True)


class DeletedGroupAnswer(Schema):
    """The group is gone; sends to it that were accepted before go on."""

    group_id = fields.UUID(required=True)
    deleted = fields.Boolean(required=True)


ContactAnswer = Schema.from_dict(
    {
        "phone": fields.String(required=True),
        "fields": fields.Dict(keys=fields.String(), values=fields.String(), required=True),
        "tags": fields.List(fields.String(), required=True),
    },
    name="ContactAnswer",
)
"""A contact of a group. Made by hand, because a schema has an attribute `fields` of its own."""
ContactAnswer.__doc__ = "A contact of a group."


class ContactCountsAnswer(Schema):
    """What became of the entries."""

    submitted = fields.Integer(required=True)
    added = fields.Integer(required=True)
    changed = fields.Integer(required=True)
    unchanged = fields.Integer(required=True)
    duplicate = fields.Integer(required=True)
    invalid = fields.Integer(required=True)


class RejectedContactAnswer(RejectedEntryAnswer):
    """An entry that was not taken."""

    duplicate_of = fields.Integer()


class PutContactsAnswer(Schema):
    """The valid contacts are in the group."""

    group_id = fields.UUID(required=True)
    contact_count = fields.Integer(required=True)
    counts = fields.Nested(ContactCountsAnswer, required=True)
    rejected = fields.List(fields.Nested(RejectedContactAnswer), required=True)
    rejected_truncated = fields.Boolean()


class RemovedContactsAnswer(Schema):
    """None of the phones is in the group."""

    group_id = fields.UUID(required=True)
    contact_count = fields.Integer(required=True)
    removed = fields.Integer(required=True)
    absent = fields.Integer(required=True)
