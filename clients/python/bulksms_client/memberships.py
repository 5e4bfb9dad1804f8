"""The people of an account, and invitations to it."""

from typing import Any

from bulksms_client.theme import Listed


class Memberships(Listed):
    """Who may act for the account, each with their role, and what they have changed."""

    path = "/people"

    def change_role(self, person_id: str, role: str) -> Any:
        """Change a person's role: owner, sender or viewer."""
        return self._transport.request("PATCH", f"/people/{person_id}", {"role": role})

    def remove(self, person_id: str) -> Any:
        """End the person's membership."""
        return self._transport.request("DELETE", f"/people/{person_id}")

    def changes(self, limit: int = 50, **query: Any) -> Any:
        """The audit log, newest first; by `cursor`."""
        return self._get("/changes", limit=limit, **query)


class Invitations(Listed):
    """Invitations that wait to be accepted."""

    path = "/invitations"

    def create(self, email: str, role: str, key: str | None = None) -> Any:
        """Invite a person. The response has the `token` of the link, once."""
        return self._post("/invitations", key, email=email, role=role)

    def withdraw(self, invitation_id: str) -> Any:
        """Withdraw an invitation: its link stops working."""
        return self._transport.request("DELETE", f"/invitations/{invitation_id}")
