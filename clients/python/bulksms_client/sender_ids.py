"""Sender IDs."""

from typing import Any

from bulksms_client.theme import Listed


class SenderIds(Listed):
    """The names and numbers that messages come from, which the operator approves; by `status`, and by `search`, a part
    of them."""

    path = "/sender-ids"

    def create(self, sender_id: str, use_case: str | None = None, key: str | None = None) -> Any:
        """Request a sender ID."""
        return self._post("/sender-ids", key, sender_id=sender_id, use_case=use_case)

    def delete(self, id: str) -> Any:
        """Delete a sender ID, by its `id`."""
        return self._transport.request("DELETE", f"/sender-ids/{id}")
