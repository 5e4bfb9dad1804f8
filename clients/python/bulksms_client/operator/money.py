"""Top-ups and refunds."""

from typing import Any

from bulksms_client.transport import Transport


class TopUps:
    """Credits that accounts were given, and got back."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, account_id: int, limit: int = 50, **query: Any) -> Any:
        """An account's top-ups, newest first, with what was reversed; by `cursor`."""
        return self._transport.request("GET", f"/accounts/{account_id}/top-ups", query={"limit": limit, **query})

    def create(self, account_id: int, credits: Any, reason: str, key: str) -> Any:
        """Add credits. The same `key`, such as the number of the payment, adds them once."""
        body = {"credits": credits, "reason": reason}
        return self._transport.request("POST", f"/accounts/{account_id}/top-ups", body, key=key)

    def reverse(self, account_id: int, top_up_id: str, credits: Any, reason: str, key: str | None = None) -> Any:
        """Reverse credits of a mistaken top-up, once."""
        path = f"/accounts/{account_id}/top-ups/{top_up_id}/reverse"
        return self._transport.request("POST", path, {"credits": credits, "reason": reason}, key=key)

    def refund_send(self, account_id: int, send_id: str, reason: str, key: str | None = None) -> Any:
        """Give back what was charged for a send, once."""
        path = f"/accounts/{account_id}/sends/{send_id}/refund"
        return self._transport.request("POST", path, {"reason": reason}, key=key)

    def refund_message(self, account_id: int, message_id: str, reason: str, key: str | None = None) -> Any:
        """Give back what was charged for a message, once."""
        path = f"/accounts/{account_id}/messages/{message_id}/refund"
        return self._transport.request("POST", path, {"reason": reason}, key=key)
