"""Messages from phones."""

from typing import Any

from bulksms_client.transport import Transport


class Inbound:
    """What phones have sent to the account's numbers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Newest first; by `phone`, `sender_id`, `keyword`, `latest`, `since`, `until`, `cursor`."""
        return self._transport.request("GET", "/inbound", query={"limit": limit, **query})
