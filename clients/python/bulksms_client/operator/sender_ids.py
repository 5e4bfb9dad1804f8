"""Sender IDs of all accounts."""

from typing import Any

from bulksms_client.theme import WithEntries


class SenderIdRequests(WithEntries):
    """Requests of accounts for sender IDs, and the decisions on them; by `account_id`, `status`.

    They name similar ones of other accounts. One is found by its `sender`.
    """

    path = "/sender-ids"

    def create(self, account_id: int, sender_id: str, use_case: str | None = None, key: str | None = None) -> Any:
        """Request one for an account."""
        return self._post("/sender-ids", key, account_id=account_id, sender_id=sender_id, use_case=use_case)

    def approve(self, sender: str, reason: str | None = None, key: str | None = None) -> Any:
        """Approve a sender ID."""
        return self._post(f"/sender-ids/{sender}/approve", key, reason=reason)

    def reject(self, sender: str, reason: str, key: str | None = None) -> Any:
        """Reject a sender ID. The account is told the reason."""
        return self._post(f"/sender-ids/{sender}/reject", key, reason=reason)

    def suspend(self, sender: str, reason: str, key: str | None = None) -> Any:
        """Hold what is sent from it until it is approved again. The account is told the reason."""
        return self._post(f"/sender-ids/{sender}/suspend", key, reason=reason)
