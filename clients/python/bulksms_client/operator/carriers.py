"""Carriers, and their queue."""

from typing import Any
from urllib.parse import quote

from bulksms_client.transport import Transport


class Carriers:
    """The carriers, as the workers report them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def all(self) -> Any:
        """State, rate, throttling, window, and what waits."""
        return self._transport.request("GET", "/carriers")

    def one(self, carrier: str) -> Any:
        """One carrier."""
        return self._transport.request("GET", _path(carrier))

    def pause(self, carrier: str, reason: str, key: str | None = None) -> Any:
        """Pause a carrier: nothing is submitted to it. Its messages take another route, or wait."""
        return self._transport.request("POST", _path(carrier, "/pause"), {"reason": reason}, key=key)

    def resume(self, carrier: str, reason: str | None = None, key: str | None = None) -> Any:
        """Resume a carrier."""
        body = {"reason": reason} if reason else {}
        return self._transport.request("POST", _path(carrier, "/resume"), body, key=key)

    def queue(self, limit: int = 200) -> Any:
        """What waits and is being sent, by account, category and carrier, with what limits it."""
        return self._transport.request("GET", "/queue", query={"limit": limit})


def _path(carrier: str, action: str = "") -> str:
    return f"/carriers/{quote(carrier, safe='')}{action}"
