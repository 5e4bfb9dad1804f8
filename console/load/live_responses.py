"""API responses that the live parts of an account's open pages share for a moment.

Whole pages always ask the API. Only a member of the account, as last reported by the API, gets a response for a member
with the same role.
"""

import time
from collections.abc import Callable
from typing import Any

from flask import g

from console.session.current import api, is_part, membership
from console.session.token_cache import LiveResponse

SECONDS = 2.0
"""Less than the polling interval of a page."""


def shared(what: str, ask: Callable[[], Any]) -> Any:
    """What `ask` returns; for a live part, perhaps the response of a moment ago. `what` names it within the account."""
    kept, here = api().live_responses, membership()
    if here is None:
        return ask()
    key = (g.account_id, g.world, here["role"], what)
    found = kept.get(key) if is_part() else None
    if found is None:
        found = kept.put(key, LiveResponse(ask(), time.monotonic() + SECONDS))
    return found.response
