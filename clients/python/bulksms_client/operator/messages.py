"""Messages of all accounts, and messages from phones that belong to none."""

from typing import Any

from bulksms_client.theme import Listed, WithEntries


class AccountMessages(WithEntries):
    """Each SMS of each account, newest first; by `account_id`, `send_id`, `phone`, `reference`, `status`, `since`,
    `until`. One has its attempts and timeline. Texts and whole phones need the scope `texts`."""

    path = "/messages"


class UnassignedInbound(Listed):
    """Messages from phones to numbers of no account, newest first; by `sent_to`. Texts and whole phones need the scope
    `texts`."""

    path = "/inbound"

    def numbers(self, limit: int = 50) -> Any:
        """The number of messages to each number, largest first."""
        return self._get("/inbound/numbers", limit=limit)
