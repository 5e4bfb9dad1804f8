"""Limit the messages that an account may send to a phone per hour, by category."""

from typing import Any

from api.auth.tokens import Caller
from api.commit.draft import Draft
from api.problems import Problem
from api.services import Services
from shared.lifecycle import LANES

ENTRY = {
    "code": "recipient_limit",
    "detail": "The phone has reached its hourly limit for this category.",
}


def recipients_over_limit(services: Services, caller: Caller, body: dict[str, Any], phones: list[str]) -> set[int]:
    """The indexes of phones that have reached their hourly limit."""
    lane = LANES.index(body["category"])
    limit = services.tokens.limits_of(caller.account_id).recipients(lane, services.settings.recipient_limits)
    if not limit:
        return set()
    return services.recipients.over(caller.account_id, lane, phones, limit, unique=not body["allow_duplicates"])


def count_recipients(services: Services, draft: Draft) -> None:
    """Count the messages of a send that is about to be committed. Raises Problem recipient_limit for a single one."""
    limit = services.tokens.limits_of(draft.account_id).recipients(draft.lane, services.settings.recipient_limits)
    if not limit:
        return
    if draft.kind != "single":
        services.recipients.add(draft.account_id, draft.lane, draft.phones, limit)
        return
    wait = services.recipients.take(draft.account_id, draft.lane, draft.phones[0], limit)
    if wait:
        raise Problem(
            "recipient_limit",
            f"The phone has reached its limit of {limit:,} `{draft.category}` messages per hour.",
            headers={"Retry-After": str(wait)},
        )


def uncount_recipients(services: Services, draft: Draft) -> None:
    """Undo `count_recipients` for a send that was not accepted, or was a replay."""
    services.recipients.give_back(draft.account_id, draft.lane, draft.phones)
