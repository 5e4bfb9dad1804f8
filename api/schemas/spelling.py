"""Suggest the field that a misspelled name was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_COMPARED_LENGTH = 40
"""Characters. Longer names are not compared: no field has one."""
MAX_COMPARED = 10
"""Unknown names compared per request. Each takes about 0.1 ms, and a request with more is not meant for this API."""
MAX_ERRORS_COMPARED = 20
"""In a request with more errors, no unknown name is compared."""


OTHER_NAMES = {
    "to": ("phone", "phones"),
    "recipient": ("phone", "phones"),
    "recipients": ("phones", "phone"),
    "number": ("phone", "phones"),
    "numbers": ("phones", "phone"),
    "msisdn": ("phone", "phones"),
    "mobile": ("phone", "phones"),
    "destination": ("phone", "phones"),
    "from": ("sender_id",),
    "sender": ("sender_id",),
    "source": ("sender_id",),
    "body": ("message",),
    "text": ("message",),
    "content": ("message",),
    "sms": ("message",),
    "group": ("group_id",),
    "schedule": ("send_at",),
    "scheduled_at": ("send_at",),
    "callback": ("callback_url",),
    "client_reference": ("reference",),
}
"""Field names of other SMS services, and our fields that they correspond to."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that means the same or is spelled similarly; None if there is none."""
    known = list(known)
    meant = next((own for own in OTHER_NAMES.get(name.lower(), ()) if own in known), None)
    if meant is not None:
        return meant
    if len(name) > MAX_COMPARED_LENGTH:
        return None
    return next(iter(get_close_matches(name, known, 1, 0.5)), None)
