"""The rules that a send brings along, made of its request."""

import math
from typing import Any

from shared.rules import Rules


def rules_of(body: dict[str, Any], recipients: int) -> Rules | None:
    """The rules that the body asks for, of a send to so many recipients; None where it asks for none."""
    rules: Rules = {}
    if "stop_if" in body:
        rules["stop_if"] = body["stop_if"]
    if "canary" in body:
        part = body["canary"]
        rules["canary"] = part if isinstance(part, int) else math.ceil(part * recipients)
    return rules or None


def rules_answer(rules: Rules | None) -> dict[str, Any]:
    """The rules as the API shows them."""
    known = rules or {}
    return {name: known.get(name) for name in ("stop_if", "canary")}
