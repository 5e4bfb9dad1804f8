"""Phones of contacts and opt-outs, as numbers."""

from shared.accounts.refused import Refused
from shared.sms.phones import invalid_detail, is_phone


def as_number(phone: str | int) -> int:
    """The phone as a number. Raises Refused if it is not a phone."""
    if not is_phone(str(phone)):
        raise Refused(f"{phone!r} is not a phone number. {invalid_detail(str(phone))}")
    return int(phone)
