"""The play credits of a sandbox."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.fields import doc


class RefillResponse(Schema):
    """The play credits of a sandbox, and how many were added."""

    added = fields.Integer(required=True, metadata=doc("Play credits that were added.", 250_000))
    balance = fields.Integer(required=True, metadata=doc("Credits that can still be spent, after this.", 996))
    reserved = fields.Integer(required=True, metadata=doc("Credits set aside for messages that are on their way.", 120))
