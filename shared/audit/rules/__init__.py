"""Invariants that hold after every commit. The SQL of a rule finds its breaches."""

from typing import Final

from shared.audit.rules import ledger, liveness, messages, prices, sends, usage
from shared.audit.rules.parts import Rule

__all__ = ["RULES", "Rule"]

RULES: Final = (*ledger.RULES, *sends.RULES, *messages.RULES, *prices.RULES, *liveness.RULES, *usage.RULES)
