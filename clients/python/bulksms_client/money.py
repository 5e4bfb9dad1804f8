"""Credits."""

from typing import Any

from bulksms_client.transport import Transport


class Money:
    """The account's credits and its ledger."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def balance(self) -> Any:
        """What can be spent, and what is reserved."""
        return self._transport.request("GET", "/balance")

    def transactions(self, limit: int = 50, **query: Any) -> Any:
        """The ledger, newest first; by `cursor`."""
        return self._transport.request("GET", "/balance/transactions", query={"limit": limit, **query})

    def refill(self, key: str | None = None) -> Any:
        """Refill the sandbox's play credits."""
        return self._transport.request("POST", "/sandbox/refill", key=key)
