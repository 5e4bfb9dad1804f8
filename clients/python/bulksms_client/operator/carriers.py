"""Carriers, and their queue."""

from typing import Any
from urllib.parse import quote

from bulksms_client.theme import Theme


class Carriers(Theme):
    """The carriers, as the workers report them."""

    def all(self) -> Any:
        """State, rate, throttling, window, and what waits."""
        return self._get("/carriers")

    def one(self, carrier: str) -> Any:
        """One carrier."""
        return self._get(f"/carriers/{quote(carrier, safe='')}")

    def pause(self, carrier: str, reason: str, key: str | None = None) -> Any:
        """Pause a carrier: nothing is submitted to it. Its messages take another route, or wait."""
        return self._post(f"/carriers/{quote(carrier, safe='')}/pause", key, reason=reason)

    def resume(self, carrier: str, reason: str | None = None, key: str | None = None) -> Any:
        """Resume a carrier."""
        return self._post(f"/carriers/{quote(carrier, safe='')}/resume", key, reason=reason)

    def queue(self, limit: int = 200) -> Any:
        """What waits and is being sent, by account, category and carrier, with what limits it."""
        return self._get("/queue", limit=limit)

    def margin(self, limit: int = 1000, **query: Any) -> Any:
        """What messages brought and cost, by `since`, `until`, `by`, `cursor`."""
        return self._get("/margin", limit=limit, **query)
