"""Who is to be erased."""

from api.schemas.base import Phone, Request


class ErasureBody(Request):
    """The phone of the person to be erased."""

    phone = Phone(required=True)
