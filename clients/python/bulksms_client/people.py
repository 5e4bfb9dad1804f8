"""Signing in as a person, and what a person sets for themselves."""

from collections.abc import Mapping
from typing import Any

from bulksms_client.theme import given
from bulksms_client.transport import Transport
from bulksms_client.wire import Wire


class SignIn:
    """What needs no token. Each response has a `session_token`. `headers` go with each request."""

    def __init__(self, wire: Wire, headers: Mapping[str, str] | None = None) -> None:
        self._wire = wire
        self._headers = dict(headers or {})

    def with_password(self, email: str, password: str, code: str | None = None) -> Any:
        """Sign in. `code` is a TOTP or a recovery code; without one, 401 `code_required` asks for it."""
        return self._post("/sign-in", email=email, password=password, code=code)

    def with_link(self, token: str) -> Any:
        """Sign in by a link, which works once."""
        return self._post("/sign-in/link", token=token)

    def methods(self) -> Any:
        """How people can sign in: `password`, and `oidc` with the `name` of the provider, or nothing."""
        return self._wire.request("GET", "/sign-in/methods", None, self._headers)

    def begin_oidc(self) -> Any:
        """Begin to sign in through the provider: the `authorization_url` for the browser, and the `attempt` to keep."""
        return self._wire.request("POST", "/sign-in/oidc", None, self._headers)

    def complete_oidc(self, attempt: str, state: str, code: str, invitation_token: str | None = None) -> Any:
        """Sign in with what the browser has brought back from the provider, and accept an invitation with it."""
        return self._post(
            "/sign-in/oidc/complete", attempt=attempt, state=state, code=code, invitation_token=invitation_token
        )

    def preview_invitation(self, token: str) -> Any:
        """What an invitation is for."""
        return self._post("/invitations/preview", token=token)

    def accept_invitation(self, token: str, password: str, name: str | None = None, code: str | None = None) -> Any:
        """Accept an invitation. New people give a name and choose a password; others give theirs and a code."""
        return self._post("/invitations/accept", token=token, password=password, name=name, code=code)

    def _post(self, path: str, **body: Any) -> Any:
        return self._wire.request("POST", path, given(**body), self._headers)


class Me:
    """The person of a session token. What changes a password or uses up a code has no key: it is not sent again."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def show(self) -> Any:
        """The `person` and their `accounts`."""
        return self._transport.request("GET", "/me")

    def change(self, changes: Mapping[str, Any]) -> Any:
        """Change `name`, `locale` or `time_zone`."""
        return self._transport.request("PATCH", "/me", changes)

    def change_password(self, password: str | None, new_password: str) -> Any:
        """Set another password, which ends all other sessions. `password` is not needed if there is none yet."""
        return self._transport.request(
            "POST", "/me/password", given(new_password=new_password, password=password or None), key=""
        )

    def start_totp(self, password: str) -> Any:
        """A new `secret` and its `uri` for an authenticator app."""
        return self._transport.request("POST", "/me/totp", {"password": password})

    def confirm_totp(self, code: str) -> Any:
        """Ask for codes from now on. The response has the recovery codes, once."""
        return self._transport.request("POST", "/me/totp/confirm", {"code": code}, key="")

    def disable_totp(self, password: str) -> Any:
        """Ask for codes no longer."""
        return self._transport.request("POST", "/me/totp/disable", {"password": password}, key="")

    def sessions(self) -> Any:
        """Where they are signed in."""
        return self._transport.request("GET", "/me/sessions")

    def end_session(self, session_id: str) -> Any:
        """Sign out elsewhere."""
        return self._transport.request("DELETE", f"/me/sessions/{session_id}")

    def sign_out(self) -> Any:
        """End this session."""
        return self._transport.request("POST", "/me/sign-out")

    def account_token(self, account_id: Any, *, test: bool = False) -> Any:
        """A token of their role for an account, or for its sandbox. It lasts 10 minutes."""
        return self._transport.request("POST", "/me/token", {"account_id": account_id, "test": test})

    def operator_token(self, reason: str | None = None) -> Any:
        """A token for the operator API."""
        return self._transport.request("POST", "/me/operator-token", given(reason=reason))
