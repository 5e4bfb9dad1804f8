"""Webhooks: where events are posted, and what became of them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bulksms_client.theme import WithEntries


class Webhooks(WithEntries):
    """The account's webhooks."""

    path = "/webhooks"

    def create(self, body: Mapping[str, Any], key: str | None = None) -> Any:
        """A webhook with a `url`, perhaps only for some `events`. The response has its secret, once."""
        return self._transport.request("POST", "/webhooks", body, key=key)

    def change(self, webhook_id: str, changes: Mapping[str, Any]) -> Any:
        """Change its `url`, `events`, `description` or `status`."""
        return self._transport.request("PATCH", f"/webhooks/{webhook_id}", changes)

    def delete(self, webhook_id: str) -> Any:
        """Delete a webhook."""
        return self._transport.request("DELETE", f"/webhooks/{webhook_id}")

    def rotate_secret(self, webhook_id: str, key: str | None = None) -> Any:
        """A new secret, shown once; the old one signs too for a while."""
        return self._transport.request("POST", f"/webhooks/{webhook_id}/rotate-secret", key=key)

    def test(self, webhook_id: str, key: str | None = None) -> Any:
        """Post a test event."""
        return self._transport.request("POST", f"/webhooks/{webhook_id}/test", key=key)

    def deliveries(self, webhook_id: str, limit: int = 50, **query: Any) -> Any:
        """What was posted; by `status`, `cursor`."""
        return self._get(f"/webhooks/{webhook_id}/deliveries", limit=limit, **query)

    def replay(self, webhook_id: str, event_id: str, key: str | None = None) -> Any:
        """Post an event again."""
        path = f"/webhooks/{webhook_id}/deliveries/{quote(event_id, safe='')}/replay"
        return self._transport.request("POST", path, key=key)
