"""API responses that the live parts of an account's open pages share for a moment.

Whole pages always ask the API. Only a member of the account, as last reported by the API, gets a response for a member
with the same role.
"""

import time
from collections.abc import Callable
from typing import Any

from flask import g, request

from console.session.current import api, person
from console.session.token_cache import LiveAnswer

SECONDS = 2.0
"""Less than the polling interval of a page."""


def shared(what: str, ask: Callable[[], Any]) -> Any:
    """What `ask` returns; for a live part, perhaps the response of a moment ago. `what` names it within the account."""
    kept = api().live_answers
    role = next((each["role"] for each in person().accounts if str(each["account_id"]) == g.account_id), None)
    if role is None:
        return ask()
    key = (g.account_id, g.world, role, what)
    found = kept.get(key) if "HX-Request" in request.headers else None
    return found.answer if found is not None else kept.put(key, LiveAnswer(ask(), time.monotonic() + SECONDS)).answer
