"""Credits, usage reports and limits."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from bulksms_client.theme import Theme


class Money(Theme):
    """The account's credits and its ledger."""

    def balance(self) -> Any:
        """What can be spent, and what is reserved."""
        return self._get("/balance")

    def transactions(self, limit: int = 50, **query: Any) -> Any:
        """The ledger, newest first; by `cursor`."""
        return self._get("/balance/transactions", limit=limit, **query)

    def statements(self) -> Any:
        """The months of the account, newest first, with their sums."""
        return self._get("/statements")

    def statement(self, month: str) -> Any:
        """The statement of a month such as `2026-11`, with its lines."""
        return self._get(f"/statements/{quote(month, safe='')}")

    def prices(self, limit: int = 50, **query: Any) -> Any:
        """The price list, by `cursor`; or the price of a segment to a `phone`, by `category`; now or `at` a time."""
        return self._get("/prices", limit=limit, **query)

    def prices_csv(self) -> Iterator[bytes]:
        """The whole price list as CSV."""
        return self._transport.stream("/prices")

    def refill(self, key: str | None = None) -> Any:
        """Refill the sandbox's play credits."""
        return self._transport.request("POST", "/sandbox/refill", key=key)


class UsageReports(Theme):
    """Messages and credits by day, sender ID, country, category and status."""

    def report(self, by: str, limit: int = 1000, **query: Any) -> Any:
        """Counts by dimensions such as `day,status`, between `since` and `until`."""
        return self._get("/usage", by=by, limit=limit, **query)

    def csv(self, by: str, **query: Any) -> Iterator[bytes]:
        """The whole report as CSV."""
        return self._transport.stream("/usage", {"by": by, **query})

    def limits(self) -> Any:
        """The account's limits, and what is waiting to be sent."""
        return self._get("/limits")
