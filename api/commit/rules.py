"""The rules of a send, from its request and the account's defaults for its category."""

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from api.commit.draft import BATCH_SIZE, Draft
from shared.accounts.category_rules import list_rules
from shared.sends.placeholder_batches import Chunk
from shared.sends.quiet_hours import by_zone, clock
from shared.sends.rules import Rules


def rules_of_account(connection: Connection, account_id: int) -> dict[str, Rules]:
    """The account's default rules, by category."""
    by_category: dict[str, Rules] = {}
    for row in list_rules(connection, account_id):
        rules: Rules = {}
        if row.quiet_from is not None:
            rules["quiet"] = [row.quiet_from, row.quiet_until]
        if row.cap_most is not None:
            rules["cap"] = [row.cap_most, row.cap_hours]
        by_category[row.category] = rules
    return by_category


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
