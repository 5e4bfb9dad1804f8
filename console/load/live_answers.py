"""Answers of the API that the live parts of an account's open pages share for a moment.

Whole pages always ask. Only who is in the account, by the API's last answer, gets what was asked for another member
with the same role.
"""

import time
from collections.abc import Callable
from typing import Any

from flask import g, request

from console.session.current import api, person
from console.session.token_cache import LiveAnswer

SECONDS = 2.0
"""Less than the time between two looks of one page."""


def shared(what: str, ask: Callable[[], Any]) -> Any:
    """The answer to `what` is asked of the account: for a live part perhaps that of a moment ago."""
    kept = api().live_answers
    role = next((each["role"] for each in person().accounts if str(each["account_id"]) == g.account_id), None)
    if role is None:
        return ask()
    key = (g.account_id, g.world, role, what)
    found = kept.get(key) if "HX-Request" in request.headers else None
    return found.answer if found is not None else kept.put(key, LiveAnswer(ask(), time.monotonic() + SECONDS)).answer
