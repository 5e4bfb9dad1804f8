"""The people of an account, and invitations to it."""

from typing import Any

from bulksms_client.transport import Transport


class Memberships:
    """Who may act for the account, and what they have changed."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """The people, each with their role; by `cursor`."""
        return self._transport.request("GET", "/people", query={"limit": limit, **query})

    def change_role(self, person_id: str, role: str) -> Any:
        """Change a person's role: owner, sender or viewer."""
        return self._transport.request("PATCH", f"/people/{person_id}", {"role": role})

    def remove(self, person_id: str) -> Any:
        """End the person's membership."""
        return self._transport.request("DELETE", f"/people/{person_id}")

    def changes(self, limit: int = 50, **query: Any) -> Any:
        """The audit log, newest first; by `cursor`."""
        return self._transport.request("GET", "/changes", query={"limit": limit, **query})


class Invitations:
    """Invitations that wait to be accepted."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(self, limit: int = 50, **query: Any) -> Any:
        """Open invitations; by `cursor`."""
        return self._transport.request("GET", "/invitations", query={"limit": limit, **query})

    def create(self, email: str, role: str, key: str | None = None) -> Any:
        """Invite a person. The response has the `token` of the link, once."""
        return self._transport.request("POST", "/invitations", {"email": email, "role": role}, key=key)

    def withdraw(self, invitation_id: str) -> Any:
        """Withdraw an invitation: its link stops working."""
        return self._transport.request("DELETE", f"/invitations/{invitation_id}")
