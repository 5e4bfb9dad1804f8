"""The operator API: accounts, credits, sender IDs, carriers, and what needs a decision.

OperatorClient(url, operator_key, its_secret).top_ups.create(17, 1000, "invoice 2026-0117", key="payment-4711")
"""

from bulksms_client.operator.client import OPERATOR_PREFIX, OperatorClient, OperatorThemes

__all__ = ["OPERATOR_PREFIX", "OperatorClient", "OperatorThemes"]
