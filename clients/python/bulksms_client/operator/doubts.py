"""Messages in doubt."""

from collections.abc import Sequence
from typing import IO, Any

from bulksms_client.transport import Transport


class Doubts:
    """Messages that a carrier may have sent, or not."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Oldest first; by `send_id`, `carrier`, `cursor`."""
        return self._transport.request("GET", "/doubts", query={"limit": limit, **query})

    def resolve(
        self, message_ids: Sequence[str], outcome: str, reason: str | None = None, key: str | None = None
    ) -> Any:
        """Resolve messages as `sent`, `delivered` or `not-sent`."""
        body = {"message_ids": list(message_ids), "outcome": outcome} | ({"reason": reason} if reason else {})
        return self._transport.request("POST", "/doubts/resolve", body, key=key)

    def reconcile(self, carrier: str, report: IO[bytes], length: int, *, key: str | None = None, **query: Any) -> Any:
        """Match a carrier's report, a CSV file of `length` bytes, with what is in doubt. By `within_seconds`.

        With `apply="true"`, what matches is resolved; otherwise nothing is changed.
        """
        parameters = {"carrier": carrier, **query}
        return self._transport.upload("/doubts/reconcile", report, length, parameters, key=key)
