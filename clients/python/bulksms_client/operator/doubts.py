"""Messages in doubt."""

from collections.abc import Sequence
from typing import IO, Any

from bulksms_client.theme import Listed


class Doubts(Listed):
    """Messages that a carrier may have sent, or not, oldest first; by `send_id`, `carrier`."""

    path = "/doubts"

    def resolve(
        self, message_ids: Sequence[str], outcome: str, reason: str | None = None, key: str | None = None
    ) -> Any:
        """Resolve messages as `sent`, `delivered` or `not-sent`."""
        return self._post("/doubts/resolve", key, message_ids=list(message_ids), outcome=outcome, reason=reason)

    def reconcile(self, carrier: str, report: IO[bytes], length: int, *, key: str | None = None, **query: Any) -> Any:
        """Match a carrier's report, a CSV file of `length` bytes, with what is in doubt. By `within_seconds`.

        With `apply="true"`, what matches is resolved; otherwise nothing is changed.
        """
        parameters = {"carrier": carrier, **query}
        return self._transport.upload("/doubts/reconcile", report, length, parameters, key=key)
