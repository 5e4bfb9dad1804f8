"""Credentials for the SMPP server."""

from collections.abc import Mapping
from typing import Any

from bulksms_client.theme import Listed


class SmppCredentials(Listed):
    """The account's valid credentials, with their open binds."""

    path = "/smpp-credentials"

    def create(self, body: Mapping[str, Any], key: str | None = None) -> Any:
        """A credential with its `system_id`, `allowed_ips` and settings. The response has its password, once."""
        return self._transport.request("POST", self.path, body, key=key)

    def change(self, credential_id: str, changes: Mapping[str, Any]) -> Any:
        """Change settings, from the next bind on."""
        return self._transport.request("PATCH", f"{self.path}/{credential_id}", changes)

    def rotate(self, credential_id: str, key: str | None = None) -> Any:
        """A new password, shown once. The old one stops working, and open binds end."""
        return self._post(f"{self.path}/{credential_id}/rotate", key)

    def revoke(self, credential_id: str) -> Any:
        """Revoke a credential, and end its binds."""
        return self._transport.request("DELETE", f"{self.path}/{credential_id}")

    def replay(self, credential_id: str, since: str, key: str | None = None) -> Any:
        """Deliver receipts and messages from phones since a time again."""
        return self._post(f"{self.path}/{credential_id}/replay", key, since=since)
