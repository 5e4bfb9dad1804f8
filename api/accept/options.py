"""The options of a send: when it is due, when its messages expire, its callback URL, and its rules.

The `callback_url` of a send gets its events through the account's callback webhook. That webhook has no URL. It exists
once per account, in addition to the account's other webhooks.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, exists, select

from api.commit.draft import BATCH_SIZE, Draft
from api.problems import Problem, invalid
from api.services import Services
from shared.db.connection import reading, transaction
from shared.db.tables.webhooks import webhook
from shared.events.webhook_urls import url_problem
from shared.events.webhooks import open_callbacks
from shared.outbox import listen
from shared.sends.placeholder_batches import Chunk
from shared.sends.quiet_hours import by_zone, clock
from shared.sends.rules import Rules

VALIDITY = timedelta(hours=72)
"""Default time from when a send is due until its messages expire."""
TOLERANCE = timedelta(seconds=60)
"""How long ago a `send_at` may be and mean now: clocks differ, and requests take time. An older one is a mistake."""

HAS_CALLBACKS = select(
    exists().where(webhook.c.account_id == bindparam("account"), webhook.c.url.is_(None), webhook.c.state != "deleted")
)


def due_time(send_at: datetime | None, now: datetime) -> datetime | None:
    """When to send; None means now. Raises Problem validation_failed for a time more than 60 seconds ago."""
    if send_at is None or send_at > now:
        return send_at
    if send_at < now - TOLERANCE:
        detail = "`send_at` is more than 60 seconds ago. Use a future time, or omit it to send now."
        raise _invalid_time("/send_at", detail)
    return None


def expiry_time(expires_at: datetime | None, due: datetime, now: datetime) -> datetime:
    """When unsent messages expire. Raises Problem validation_failed for a time before the send is due."""
    if expires_at is None:
        return due + VALIDITY
    if expires_at <= now:
        raise _invalid_time("/expires_at", "`expires_at` must be in the future.")
    if expires_at <= due:
        detail = "The message would expire before it is due. Use an `expires_at` after `send_at`."
        raise _invalid_time("/expires_at", detail)
    return expires_at


def is_default(expires_at: datetime, send_at: datetime | None, created_at: datetime) -> bool:
    """Whether `expires_at` is the default, so that it moves with `send_at`."""
    return expires_at == (send_at or created_at) + VALIDITY


def _invalid_time(pointer: str, detail: str) -> Problem:
    return invalid([{"pointer": pointer, "code": "invalid_time", "detail": detail}])


def check_callback(services: Services, url: str) -> None:
    """Raise Problem if this installation does not post to the URL."""
    problem = url_problem(url, services.settings.webhook_loopback)
    if problem is not None:
        raise invalid([{"pointer": "/callback_url", "code": "invalid_url", "detail": problem}])


def expect_callbacks(services: Services, account: int) -> None:
    """Record the account's events from now on, and create its callback webhook. Takes a second the first time."""
    listen(services.engine, account)
    with reading(services.engine) as connection:
        if connection.execute(HAS_CALLBACKS, {"account": account}).scalar():
            return
    with transaction(services.engine) as connection:
        open_callbacks(connection, account)


def add_rules(draft: Draft, body: dict[str, Any], of_account: dict[str, Rules]) -> None:
    """Set the draft's rules: those of the request, and the account's defaults for the rest."""
    rules: Rules = {**of_account.get(draft.category, {})}
    if "quiet_hours" in body:
        rules["quiet"] = [body["quiet_hours"]["quiet_from"], body["quiet_hours"]["quiet_until"]]
    if "stop_if" in body:
        rules["stop_if"] = body["stop_if"]
    if "canary" in body:
        canary = body["canary"]
        rules["canary"] = canary if isinstance(canary, int) else math.ceil(canary * draft.accepted)
    draft.rules = rules or None
    if "quiet" in rules and draft.kind == "bulk":
        draft.rearrange(*_in_zones(draft))


def _in_zones(draft: Draft) -> tuple[list[str], list[int] | None, list[Chunk] | None]:
    """The phones, batch sizes and chunks, rearranged so that each batch is in one time zone."""
    if draft.chunks is not None:
        return draft.phones, None, [part for chunk in draft.chunks for part in chunk.parts(by_zone(chunk.phones))]
    sets = by_zone(draft.phones)
    return [draft.phones[position] for positions in sets for position in positions], _sizes(sets), None


def _sizes(sets: Sequence[Sequence[int]]) -> list[int]:
    return [
        min(BATCH_SIZE, len(positions) - start) for positions in sets for start in range(0, len(positions), BATCH_SIZE)
    ]


def rules_response(rules: Rules | None) -> dict[str, Any]:
    """The rules as in API responses."""
    rules = rules or {}
    quiet, cap = rules.get("quiet"), rules.get("cap")
    return {
        "stop_if": rules.get("stop_if"),
        "canary": rules.get("canary"),
        "quiet_hours": quiet and {"from": clock(quiet[0]), "until": clock(quiet[1])},
        "cap": cap and {"most": cap[0], "hours": cap[1]},
    }
