"""Messages of all accounts, and messages from phones that belong to none."""

from typing import Any

from bulksms_client.transport import Transport


class AccountMessages:
    """Each SMS of each account. Texts and whole phones need the scope `texts`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Newest first; by `account_id`, `send_id`, `phone`, `reference`, `status`, `since`, `until`, `cursor`."""
        return self._transport.request("GET", "/messages", query={"limit": limit, **query})

    def one(self, message_id: str) -> Any:
        """One message with its attempts and timeline."""
        return self._transport.request("GET", f"/messages/{message_id}")


class UnassignedInbound:
    """Messages from phones to numbers of no account. Texts and whole phones need the scope `texts`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Newest first; by `sent_to`, `cursor`."""
        return self._transport.request("GET", "/inbound", query={"limit": limit, **query})

    def numbers(self, limit: int = 50) -> Any:
        """The number of messages to each number, largest first."""
        return self._transport.request("GET", "/inbound/numbers", query={"limit": limit})
