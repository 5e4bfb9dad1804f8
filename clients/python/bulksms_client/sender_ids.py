"""Sender IDs."""

from typing import Any

from bulksms_client.transport import Transport


class SenderIds:
    """The names and numbers that messages come from. The operator approves them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """The account's sender IDs; by `status`, `search`, a part of them, and `cursor`."""
        return self._transport.request("GET", "/sender-ids", query={"limit": limit, **query})

    def create(self, sender_id: str, use_case: str | None = None, key: str | None = None) -> Any:
        """Request a sender ID."""
        body = {"sender_id": sender_id} | ({"use_case": use_case} if use_case else {})
        return self._transport.request("POST", "/sender-ids", body, key=key)

    def delete(self, id: str) -> Any:
        """Delete a sender ID, by its `id`."""
        return self._transport.request("DELETE", f"/sender-ids/{id}")
