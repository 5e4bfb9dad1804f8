"""Schemas of the sandbox."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.fields import doc


class RefillResponse(Schema):
    """The sandbox's play credits after a refill."""

    added = fields.Integer(required=True, metadata=doc("Play credits added.", 250_000))
    balance = fields.Integer(required=True, metadata=doc("Credits left to spend after this.", 996))
    reserved = fields.Integer(required=True, metadata=doc("Credits reserved for unfinished messages.", 120))
