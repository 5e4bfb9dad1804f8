"""The rules that a send brings along, made of its request and of what the account has for its category."""

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
    """What the account's sends bring along by themselves, by category."""
    found: dict[str, Rules] = {}
    for row in list_rules(connection, account_id):
        rules: Rules = {}
        if row.quiet_from is not None:
            rules["quiet"] = [row.quiet_from, row.quiet_until]
        if row.cap_most is not None:
            rules["cap"] = [row.cap_most, row.cap_hours]
        found[row.category] = rules
    return found


def add_rules(draft: Draft, body: dict[str, Any], of_account: dict[str, Rules]) -> None:
    """Give the draft the rules that its body asks for, and those of the account's that it says nothing of."""
    rules: Rules = {**of_account.get(draft.category, {})}
    if "quiet_hours" in body:
        rules["quiet"] = [body["quiet_hours"]["quiet_from"], body["quiet_hours"]["quiet_until"]]
    if "stop_if" in body:
        rules["stop_if"] = body["stop_if"]
    if "canary" in body:
        part = body["canary"]
        rules["canary"] = part if isinstance(part, int) else math.ceil(part * draft.accepted)
    draft.rules = rules or None
    if "quiet" in rules and draft.kind == "bulk":
        draft.rearrange(*_in_zones(draft))


def _in_zones(draft: Draft) -> tuple[list[str], list[int] | None, list[Chunk] | None]:
    """The phones, the sizes of their batches, and the pieces, such that no batch is in several time zones."""
    if draft.chunks is not None:
        return draft.phones, None, [part for chunk in draft.chunks for part in chunk.parts(by_zone(chunk.phones))]
    sets = by_zone(draft.phones)
    return [draft.phones[position] for positions in sets for position in positions], _sizes(sets), None


def _sizes(sets: Sequence[Sequence[int]]) -> list[int]:
    return [
        min(BATCH_SIZE, len(positions) - start) for positions in sets for start in range(0, len(positions), BATCH_SIZE)
    ]


def rules_answer(rules: Rules | None) -> dict[str, Any]:
    """The rules as the API shows them."""
    known = rules or {}
    quiet, cap = known.get("quiet"), known.get("cap")
    return {
        "stop_if": known.get("stop_if"),
        "canary": known.get("canary"),
        "quiet_hours": quiet and {"from": clock(quiet[0]), "until": clock(quiet[1])},
        "cap": cap and {"most": cap[0], "hours": cap[1]},
    }
