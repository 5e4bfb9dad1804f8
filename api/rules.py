"""The rules that a send brings along, made of its request."""

from typing import Any

from shared.rules import Rules


def rules_of(body: dict[str, Any]) -> Rules | None:
    """The rules that the body asks for; None where it asks for none."""
    rules: Rules = {}
    if "stop_if" in body:
        rules["stop_if"] = body["stop_if"]
    return rules or None


def rules_answer(rules: Rules | None) -> dict[str, Any]:
    """The rules as the API shows them."""
    known = rules or {}
    return {"stop_if": known.get("stop_if")}
