"""Messages: search and timeline."""

from typing import Any

from bulksms_client.transport import Transport


class Messages:
    """Each SMS to each phone."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Newest first; by `phone`, `reference`, `status`, `since`, `until` and what else the API filters by."""
        return self._transport.request("GET", "/messages", query={"limit": limit, **query})

    def one(self, message_id: str) -> Any:
        """One message with its text, attempts and timeline."""
        return self._transport.request("GET", f"/messages/{message_id}")

    def errors(self) -> Any:
        """The codes of messages' errors, each with its title, meaning and remedy."""
        return self._transport.request("GET", "/errors", query={"kind": "message"})
