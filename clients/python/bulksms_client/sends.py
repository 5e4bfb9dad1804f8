"""Sends: quotes, submits, progress and control."""

from collections.abc import Iterator, Mapping
from typing import Any

from bulksms_client.theme import WithEntries

PATHS = {"phone": "/sms/send", "phones": "/sms/send-bulk", "group_id": "/sms/send-group"}
"""The field that names the recipients, and where such a send goes."""


class Sends(WithEntries):
    """What was sent, is being sent and will be sent, newest first; by `status`, `reference`, `in_progress`. One has its
    counts."""

    path = "/sends"

    def quote(self, body: Mapping[str, Any]) -> Any:
        """What a send would cost and reject."""
        return self._transport.request("POST", "/sms/quote", body, key="")

    def create(self, body: Mapping[str, Any], key: str) -> Any:
        """Send to a `phone`, to `phones` or to a group by its `group_id`. The same `key` sends once."""
        path = next(path for field, path in PATHS.items() if field in body)
        return self._transport.request("POST", path, body, key=key)

    def cancel(self, send_id: str, key: str | None = None) -> Any:
        """Cancel what has not been submitted yet."""
        return self._transport.request("POST", f"/sends/{send_id}/cancel", key=key)

    def pause(self, send_id: str, key: str | None = None) -> Any:
        """Hand over nothing until it is resumed."""
        return self._transport.request("POST", f"/sends/{send_id}/pause", key=key)

    def resume(self, send_id: str, key: str | None = None) -> Any:
        """Resume a send that was paused, or is held by its canary or `stop_if`."""
        return self._transport.request("POST", f"/sends/{send_id}/resume", key=key)

    def change(self, send_id: str, changes: Mapping[str, Any]) -> Any:
        """Change `send_at`, `expires_at`, `rate` or `message`."""
        return self._transport.request("PATCH", f"/sends/{send_id}", changes)

    def messages(self, send_id: str, limit: int = 50, **query: Any) -> Any:
        """Its messages; by `status`, `cursor`."""
        return self._get(f"/sends/{send_id}/messages", limit=limit, **query)

    def errors(self, send_id: str) -> Any:
        """How many of its messages failed, expired or are in doubt, by `status` and `code`."""
        return self._get(f"/sends/{send_id}/errors")

    def rejected(self, send_id: str) -> Any:
        """The recipients that were not accepted, each with its `code`."""
        return self._get(f"/sends/{send_id}/rejected")

    def messages_csv(self, send_id: str, **query: Any) -> Iterator[bytes]:
        """All its messages as CSV; by `status`."""
        return self._transport.stream(f"/sends/{send_id}/messages", query)
