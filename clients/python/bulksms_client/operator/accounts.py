"""Accounts, their limits and rules, their API keys, and their credits."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bulksms_client.theme import Theme


class Accounts(Theme):
    """All accounts, without their sandboxes."""

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Accounts with balance and today's traffic, by id; by `search`, `status`, `cursor`."""
        return self._get("/accounts", limit=limit, **query)

    def one(self, account_id: int) -> Any:
        """One account with its settings."""
        return self._get(f"/accounts/{account_id}")

    def create(self, name: str, key: str | None = None, **settings: Any) -> Any:
        """A new account, without credits."""
        return self._transport.request("POST", "/accounts", {"name": name, **settings}, key=key)

    def change(self, account_id: int, changes: Mapping[str, Any]) -> Any:
        """Change settings."""
        return self._transport.request("PATCH", f"/accounts/{account_id}", changes)

    def suspend(self, account_id: int, reason: str, key: str | None = None) -> Any:
        """Suspend an account: it accepts nothing new. Accepted sends continue."""
        return self._post(f"/accounts/{account_id}/suspend", key, reason=reason)

    def activate(self, account_id: int, reason: str | None = None, key: str | None = None) -> Any:
        """Activate a suspended or frozen account."""
        return self._post(f"/accounts/{account_id}/activate", key, reason=reason)

    def close(self, account_id: int, reason: str, key: str | None = None) -> Any:
        """Close an account for good."""
        return self._post(f"/accounts/{account_id}/close", key, reason=reason)

    def limits(self, account_id: int) -> Any:
        """Its own limits, and what it has spent of them."""
        return self._get(f"/accounts/{account_id}/limits")

    def rules(self, account_id: int) -> Any:
        """Its quiet hours and caps, by category."""
        return self._get(f"/accounts/{account_id}/rules")

    def smpp_credentials(self, account_id: int) -> Any:
        """Its SMPP credentials and those of its sandbox, with their open binds."""
        return self._get(f"/accounts/{account_id}/smpp-credentials")

    def statements(self, account_id: int) -> Any:
        """The months of an account, newest first, with their sums."""
        return self._get(f"/accounts/{account_id}/statements")

    def statement(self, account_id: int, month: str) -> Any:
        """The statement of a month such as `2026-11`, with its lines."""
        return self._get(f"/accounts/{account_id}/statements/{quote(month, safe='')}")


class AccountKeys(Theme):
    """API keys of accounts and their sandboxes."""

    def page(self, account_id: int, limit: int = 50, **query: Any) -> Any:
        """An account's keys that are not revoked; by `cursor`."""
        return self._get(f"/accounts/{account_id}/api-keys", limit=limit, **query)

    def create(self, account_id: int, body: Mapping[str, Any], key: str | None = None) -> Any:
        """A new key. The response has its `api_secret`, once."""
        return self._transport.request("POST", f"/accounts/{account_id}/api-keys", body, key=key)

    def revoke(self, account_id: int, api_key: str) -> Any:
        """Revoke a key: it and its tokens stop working."""
        return self._transport.request("DELETE", f"/accounts/{account_id}/api-keys/{api_key}")


class TopUps(Theme):
    """Credits that accounts were given, and got back."""

    def page(self, account_id: int, limit: int = 50, **query: Any) -> Any:
        """An account's top-ups, newest first, with what was reversed; by `cursor`."""
        return self._get(f"/accounts/{account_id}/top-ups", limit=limit, **query)

    def create(self, account_id: int, credits: Any, reason: str, key: str) -> Any:
        """Add credits. The same `key`, such as the number of the payment, adds them once."""
        return self._post(f"/accounts/{account_id}/top-ups", key, credits=credits, reason=reason)

    def reverse(self, account_id: int, top_up_id: str, credits: Any, reason: str, key: str | None = None) -> Any:
        """Reverse credits of a mistaken top-up, once."""
        return self._post(f"/accounts/{account_id}/top-ups/{top_up_id}/reverse", key, credits=credits, reason=reason)

    def adjust(self, account_id: int, credits: Any, reason: str, key: str) -> Any:
        """Add credits, or take them with a number below 0. The same `key` does it once."""
        return self._post(f"/accounts/{account_id}/adjustments", key, credits=credits, reason=reason)

    def refund_send(self, account_id: int, send_id: str, reason: str, key: str | None = None) -> Any:
        """Give back what was charged for a send, once."""
        return self._post(f"/accounts/{account_id}/sends/{send_id}/refund", key, reason=reason)

    def refund_message(self, account_id: int, message_id: str, reason: str, key: str | None = None) -> Any:
        """Give back what was charged for a message, once."""
        return self._post(f"/accounts/{account_id}/messages/{message_id}/refund", key, reason=reason)
