"""The play credits of a sandbox."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.fields import doc


class RefillResponse(Schema):
    """The play credits of a sandbox, and how many were added."""

    added = fields.Integer(required=True, metadata=doc("Play credits that were added.", 250_000))
    balance = fields.Integer(required=True, metadata=doc("Credits left to spend after this.", 996))
    reserved = fields.Integer(required=True, metadata=doc("Credits reserved for unfinished messages.", 120))
