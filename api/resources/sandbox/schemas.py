"""Schemas of the sandbox."""

from api.schemas import fields
from api.schemas.base import Response


class RefillResponse(Response):
    """The sandbox's play credits after a refill."""

    added = fields.Integer("Play credits added.", 250_000)
    balance = fields.Integer("Credits left to spend after this.", 996)
    reserved = fields.Integer("Credits reserved for unfinished messages.", 120)
