"""API keys."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bulksms_client.transport import Transport


class ApiKeys:
    """The account's keys."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """The valid keys; by `cursor`."""
        return self._transport.request("GET", "/api-keys", query={"limit": limit, **query})

    def create(self, body: Mapping[str, Any], key: str | None = None) -> Any:
        """A key with its `name`, `scopes` and limits. The response has its secret, once."""
        return self._transport.request("POST", "/api-keys", body, key=key)

    def rotate(self, api_key: str, overlap_seconds: int | None = None, key: str | None = None) -> Any:
        """A new secret, shown once. The old one works for `overlap_seconds` more."""
        body = {} if overlap_seconds is None else {"overlap_seconds": overlap_seconds}
        return self._transport.request("POST", f"/api-keys/{quote(api_key, safe='')}/rotate", body, key=key)

    def revoke(self, api_key: str) -> Any:
        """Revoke a key."""
        return self._transport.request("DELETE", f"/api-keys/{quote(api_key, safe='')}")
