"""Usage reports and limits."""

from collections.abc import Iterator
from typing import Any

from bulksms_client.transport import Transport


class UsageReports:
    """Messages and credits by day, sender ID, country, category and status."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def report(self, by: str, limit: int = 1000, **query: Any) -> Any:
        """Counts by dimensions such as `day,status`, between `since` and `until`."""
        return self._transport.request("GET", "/usage", query={"by": by, "limit": limit, **query})

    def csv(self, by: str, **query: Any) -> Iterator[bytes]:
        """The whole report as CSV."""
        return self._transport.stream("/usage", {"by": by, **query})

    def limits(self) -> Any:
        """The account's limits, and what is waiting to be sent."""
        return self._transport.request("GET", "/limits")
