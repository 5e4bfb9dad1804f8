"""What a misspelt field was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_NAME = 40
"""Characters of a name that is compared: no field has as many."""
MAX_COMPARED = 10
"""Names of one request that are compared. Each takes some 0.1 ms, and who misspells more of them did not mean ours."""


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
"""What other services call a field of ours, and which of ours it may be."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that means the same, or is like this one; None where there is none."""
    known = list(known)
    meant = next((own for own in OTHER_NAMES.get(name.lower(), ()) if own in known), None)
    if meant is not None:
        return meant
    if len(name) > LONGEST_NAME:
        return None
    return next(iter(get_close_matches(name, known, 1, 0.5)), None)
