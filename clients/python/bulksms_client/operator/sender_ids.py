"""Sender IDs of all accounts."""

from typing import Any

from bulksms_client.transport import Transport


class SenderIdRequests:
    """Requests of accounts for sender IDs, and the decisions on them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Sender IDs with similar ones of other accounts; by `account_id`, `status`, `cursor`."""
        return self._transport.request("GET", "/sender-ids", query={"limit": limit, **query})

    def one(self, sender: str) -> Any:
        """One sender ID, by its `sender`."""
        return self._transport.request("GET", f"/sender-ids/{sender}")

    def create(self, account_id: int, sender_id: str, use_case: str | None = None, key: str | None = None) -> Any:
        """Request one for an account."""
        body = {"account_id": account_id, "sender_id": sender_id} | ({"use_case": use_case} if use_case else {})
        return self._transport.request("POST", "/sender-ids", body, key=key)

    def approve(self, sender: str, reason: str | None = None, key: str | None = None) -> Any:
        """Approve a sender ID."""
        body = {"reason": reason} if reason else {}
        return self._transport.request("POST", f"/sender-ids/{sender}/approve", body, key=key)

    def reject(self, sender: str, reason: str, key: str | None = None) -> Any:
        """Reject a sender ID. The account is told the reason."""
        return self._transport.request("POST", f"/sender-ids/{sender}/reject", {"reason": reason}, key=key)

    def suspend(self, sender: str, reason: str, key: str | None = None) -> Any:
        """Hold what is sent from it until it is approved again. The account is told the reason."""
        return self._transport.request("POST", f"/sender-ids/{sender}/suspend", {"reason": reason}, key=key)
