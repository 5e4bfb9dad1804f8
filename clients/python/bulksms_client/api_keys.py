"""API keys."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bulksms_client.theme import Listed


class ApiKeys(Listed):
    """The account's valid keys."""

    path = "/api-keys"

    def create(self, body: Mapping[str, Any], key: str | None = None) -> Any:
        """A key with its `name`, `scopes` and limits. The response has its secret, once."""
        return self._post("/api-keys", key, **body)

    def rotate(self, api_key: str, overlap_seconds: int | None = None, key: str | None = None) -> Any:
        """A new secret, shown once. The old one works for `overlap_seconds` more."""
        return self._post(f"/api-keys/{quote(api_key, safe='')}/rotate", key, overlap_seconds=overlap_seconds)

    def revoke(self, api_key: str) -> Any:
        """Revoke a key."""
        return self._transport.request("DELETE", f"/api-keys/{quote(api_key, safe='')}")
