"""Accounts, their limits and rules, and their API keys."""

from collections.abc import Mapping
from typing import Any

from bulksms_client.transport import Transport


class Accounts:
    """All accounts, without their sandboxes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Accounts with balance and today's traffic, by id; by `search`, `status`, `cursor`."""
        return self._transport.request("GET", "/accounts", query={"limit": limit, **query})

    def one(self, account_id: int) -> Any:
        """One account with its settings."""
        return self._transport.request("GET", f"/accounts/{account_id}")

    def create(self, name: str, key: str | None = None, **settings: Any) -> Any:
        """A new account, without credits."""
        return self._transport.request("POST", "/accounts", {"name": name, **settings}, key=key)

    def change(self, account_id: int, changes: Mapping[str, Any]) -> Any:
        """Change settings."""
        return self._transport.request("PATCH", f"/accounts/{account_id}", changes)

    def suspend(self, account_id: int, reason: str, key: str | None = None) -> Any:
        """Suspend an account: it accepts nothing new. Accepted sends continue."""
        return self._transport.request("POST", f"/accounts/{account_id}/suspend", {"reason": reason}, key=key)

    def activate(self, account_id: int, reason: str | None = None, key: str | None = None) -> Any:
        """Activate a suspended or frozen account."""
        body = {"reason": reason} if reason else {}
        return self._transport.request("POST", f"/accounts/{account_id}/activate", body, key=key)

    def close(self, account_id: int, reason: str, key: str | None = None) -> Any:
        """Close an account for good."""
        return self._transport.request("POST", f"/accounts/{account_id}/close", {"reason": reason}, key=key)

    def limits(self, account_id: int) -> Any:
        """Its own limits, and what it has spent of them."""
        return self._transport.request("GET", f"/accounts/{account_id}/limits")

    def rules(self, account_id: int) -> Any:
        """Its quiet hours and caps, by category."""
        return self._transport.request("GET", f"/accounts/{account_id}/rules")


class AccountKeys:
    """API keys of accounts and their sandboxes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, account_id: int, limit: int = 50, **query: Any) -> Any:
        """An account's keys that are not revoked; by `cursor`."""
        return self._transport.request("GET", f"/accounts/{account_id}/api-keys", query={"limit": limit, **query})

    def create(self, account_id: int, body: Mapping[str, Any], key: str | None = None) -> Any:
        """A new key. The response has its `api_secret`, once."""
        return self._transport.request("POST", f"/accounts/{account_id}/api-keys", body, key=key)

    def revoke(self, account_id: int, api_key: str) -> Any:
        """Revoke a key: it and its tokens stop working."""
        return self._transport.request("DELETE", f"/accounts/{account_id}/api-keys/{api_key}")
