"""Exclude recipients from a send: opted out, in a destination not allowed, or over their hourly limit."""

from typing import Any

from api.accept.destinations import forbidden
from api.accept.recipient_limits import ENTRY as OVER_LIMIT_ENTRY
from api.accept.recipient_limits import recipients_over_limit
from api.auth.tokens import Caller
from api.services import Services
from shared.contacts.suppressions import listed
from shared.db.connection import reading
from shared.sms.phones import Screened

OPTED_OUT_ENTRY = {"code": "suppressed", "detail": "The recipient has opted out."}
BARRED_ENTRY = {"code": "destination_not_allowed", "detail": "Your account may not send to this destination."}


def drop_excluded(services: Services, caller: Caller, body: dict[str, Any], screened: Screened) -> Screened:
    """Move the excluded recipients of a list to the rejected ones, each with its reason."""
    excluded = dict.fromkeys(opted_out(services, caller, body, screened.accepted), OPTED_OUT_ENTRY)
    barred = forbidden(services.tokens.limits_of(caller.account_id), screened.accepted)
    excluded |= dict.fromkeys(barred, BARRED_ENTRY)
    over_limit = recipients_over_limit(services, caller, body, screened.accepted)
    if not excluded and not over_limit:
        return screened
    indexes = screened.accepted_index or range(len(screened.accepted))
    entries = [
        (index, phone, excluded.get(phone) or (OVER_LIMIT_ENTRY if position in over_limit else None))
        for position, (index, phone) in enumerate(zip(indexes, screened.accepted, strict=True))
    ]
    rejected = [{"index": index, "phone": phone, **entry} for index, phone, entry in entries if entry]
    return Screened(
        [phone for _, phone, entry in entries if not entry],
        [index for index, _, entry in entries if not entry],
        sorted([*screened.rejected, *rejected], key=lambda entry: int(str(entry["index"]))),
    )


def opted_out(services: Services, caller: Caller, body: dict[str, Any], phones: list[str]) -> set[str]:
    """The phones that have opted out of messages of this category and sender ID."""
    if not phones or not services.account_cache.has_suppressions(caller.account_id):
        return set()
    numbers = [int(phone) for phone in phones]
    with reading(services.engine) as connection:
        suppressed = listed(connection, caller.account_id, numbers, body["category"], body["sender_id"])
    return {str(phone) for phone in suppressed}
