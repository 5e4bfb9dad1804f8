"""Options of a send: its callback URL, its batches if it has quiet hours, and its rules as a response shows them.

The `callback_url` of a send gets its events through the account's callback webhook. That webhook has no URL. It exists
once per account, in addition to the account's other webhooks.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, exists, select

from api.commit.draft import Draft
from api.problems import invalid
from api.services import Services
from shared.db.connection import reading, transaction
from shared.db.tables.webhooks import webhook
from shared.events.webhook_urls import url_problem
from shared.events.webhooks import open_callbacks
from shared.outbox import listen
from shared.sends.batch_size import BATCH_SIZE
from shared.sends.placeholder_batches import Chunk
from shared.sends.quiet_hours import by_zone, clock
from shared.sends.rules import Rules

HAS_CALLBACKS = select(
    exists().where(webhook.c.account_id == bindparam("account"), webhook.c.url.is_(None), webhook.c.state != "deleted")
)


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


def in_zones(draft: Draft) -> tuple[list[str], list[int] | None, list[Chunk] | None]:
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
