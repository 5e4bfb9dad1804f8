"""What answers are made of."""

from functools import cache

from marshmallow import Schema, fields


@cache
def page_of(item: type[Schema]) -> type[Schema]:
    """The schema of a list of such items."""
    return Schema.from_dict(
        {
            "data": fields.List(fields.Nested(item), required=True),
            "next_cursor": fields.String(required=True, allow_none=True),
        },
        name=item.__name__.replace("Answer", "Page"),
    )


class ErrorAnswer(Schema):
    """RFC 9457 problem details."""

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    instance = fields.String(required=True)
    code = fields.String(required=True)
    request_id = fields.String(required=True)
    retryable = fields.Boolean(required=True)
    remediation = fields.String(required=True)


class RejectedEntryAnswer(Schema):
    """An entry that was not taken."""

    index = fields.Integer(required=True)
    phone = fields.String(required=True, allow_none=True)
    code = fields.String(required=True)
    detail = fields.String(required=True)
