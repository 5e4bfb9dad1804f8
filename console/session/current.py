"""The current request: who is signed in, for which account, and the API on their behalf.

The cookie holds the session token, and a support person's reason to see texts. The account and the world, `live` or
`test`, are in the path, so that pages of several accounts can be open at the same time. The API decides what is
allowed; `may` only hides what would be refused.
"""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from bulksms_client.errors import BulkSmsError
from bulksms_client.operator import OPERATOR_PREFIX
from bulksms_client.people import Me
from bulksms_client.themes import Themes
from bulksms_client.wire import Wire
from flask import current_app, g, request, session

from console.session.lost_forms import name_person
from console.session.shown_again import GuardedTransport
from console.session.token_cache import RENEW_BEFORE, SIZE, AccountToken, account_token, digest

SESSION_TOKEN = "session_token"
SIGN_IN_TIMEOUT = 8.0
"""Seconds per try: longer than the API waits for an OpenID Connect provider."""
METHODS_TIMEOUT = 1.0
"""Seconds. The page shows what is known, or asks for a password, rather than wait for an API that does not respond."""
LONGEST_AGENT = 300
NUMBER = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
"""An account's id where ids are numbers: 64 bits."""


class SignedOut(Exception):
    """Nobody is signed in, or the session has ended."""


class NotAllowed(Exception):
    """The person's role lacks the scope of the page."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who is signed in."""

    details: Mapping[str, Any]
    """As the API describes them: `person_id`, `email`, `name`, `locale`, `time_zone`, `operator_role`, `totp`."""
    accounts: tuple[Mapping[str, Any], ...]
    """Their accounts: `account_id`, `name`, `role`, `country`."""

    @property
    def initials(self) -> str:
        """Up to two initials of their name."""
        words = str(self.details.get("name") or self.details["email"]).split()
        return "".join(word[0] for word in words[:2]).upper()


class Api:
    """The service behind the console, for all requests of this process."""

    def __init__(self, url: str) -> None:
        self.wire = Wire(url, timeout=60.0, tries=2, longest_wait=0.2)
        self.operator_wire = Wire(url, timeout=60.0, tries=2, longest_wait=0.2, prefix=OPERATOR_PREFIX)
        self.tokens: dict[tuple[str | None, ...], AccountToken] = {}
        self.sign_in_wire = Wire(url, timeout=SIGN_IN_TIMEOUT, tries=2, longest_wait=0.2)
        self.methods_wire = Wire(url, timeout=METHODS_TIMEOUT, tries=1)
        self.methods: Mapping[str, Any] = {"password": True, "oidc": None}
        self.methods_until = 0.0
        """How people can sign in, and until when that is used."""

    def close(self) -> None:
        """Close the connections."""
        for wire in (self.wire, self.operator_wire, self.sign_in_wire, self.methods_wire):
            wire.close()


class SessionTokens:
    """The session token of the cookie, which cannot be renewed."""

    def token(self) -> str:
        """The token. Raises SignedOut without one."""
        token = session.get(SESSION_TOKEN)
        if not token:
            raise SignedOut
        return str(token)

    def drop(self, token: str) -> None:
        """Raises SignedOut: the session has ended."""
        raise SignedOut


class KeptTokens:
    """The person's tokens of one kind, each kept until shortly before it expires. `ask` gets a new one of the API."""

    def __init__(self, kind: tuple[str | None, ...], ask: Callable[[], Mapping[str, Any]]) -> None:
        self._kind = kind
        self._ask = ask

    def current(self) -> AccountToken:
        """The token with its scopes."""
        kept = api().tokens.get(self._key())
        return kept if kept is not None and time.monotonic() < kept.ends - RENEW_BEFORE else self.renew()

    def renew(self) -> AccountToken:
        """A new token."""
        token, tokens = account_token(self._ask()), api().tokens
        if len(tokens) >= SIZE:
            tokens.clear()
        tokens[self._key()] = token
        return token

    def token(self) -> str:
        """The token."""
        return self.current().token

    def drop(self, token: str) -> None:
        """Forget the token, so that the next request gets a new one."""
        api().tokens.pop(self._key(), None)

    def _key(self) -> tuple[str | None, ...]:
        return digest(SessionTokens().token()), *self._kind


def api() -> Api:
    """The service behind the console."""
    found: Api = current_app.extensions["bulksms_api"]
    return found


def is_part() -> bool:
    """Whether only a part of a page is requested, by the page itself."""
    return "HX-Request" in request.headers


def forwarded() -> dict[str, str]:
    """Headers with the client's address and browser: sign-ins are limited by address, and sessions show both."""
    headers = {"X-Forwarded-For": request.remote_addr or ""}
    agent = request.headers.get("User-Agent", "")
    return headers | ({"User-Agent": agent[:LONGEST_AGENT].encode("ascii", "replace").decode()} if agent else {})


def me() -> Me:
    """The API on behalf of the session's person."""
    return Me(GuardedTransport(api().wire, SessionTokens(), forwarded()))


def person() -> Person:
    """Who is signed in. Raises SignedOut."""
    if "person" not in g:
        response = me().show()
        g.person = Person(response["person"], tuple(response["accounts"]))
    known: Person = g.person
    return known


def sign_out() -> None:
    """End the session in the API, and forget it."""
    with suppress(SignedOut, BulkSmsError):  # it has ended
        me().sign_out()
    forget_session()


def forget_session() -> None:
    """Remove the session from the browser and from what this request has cached."""
    session.clear()
    for name in ("person", "nobody", "account", "operator"):
        g.pop(name, None)


def maybe_person() -> Person | None:
    """Who is signed in, or nobody. For pages that are shown to both."""
    if g.get("nobody") or not session.get(SESSION_TOKEN):
        return None
    try:
        return person()
    except (SignedOut, BulkSmsError):
        g.nobody = True  # not asked for again: the page is perhaps the one that says what went wrong
        return None


def start_session(response: Mapping[str, Any]) -> None:
    """Begin a new session in the browser. Nothing of the previous one is left."""
    forget_session()
    session[SESSION_TOKEN] = response["session_token"]
    name_person(str(response["person"]["person_id"]))


def account() -> Themes:
    """The API on behalf of the person, for the account of the path."""
    if "account" not in g:
        g.account = Themes(GuardedTransport(api().wire, account_tokens(), forwarded()))
    themes: Themes = g.account
    return themes


def account_tokens() -> KeptTokens:
    """The tokens for the account of the path, or for its sandbox."""
    ask = partial(me().account_token, _api_id(g.account_id), test=g.world == "test")
    return KeptTokens((g.account_id, g.world), ask)


def membership() -> Mapping[str, Any] | None:
    """The account of the path, as one of the person's accounts; None if they are not in it. Raises SignedOut."""
    return next((each for each in person().accounts if str(each["account_id"]) == g.get("account_id")), None)


def country() -> str | None:
    """The country of the account of the path, by which its people's phone numbers are read; None if it has none."""
    found = membership()
    return found["country"] if found is not None else None


def account_name() -> str:
    """The name of the account of the path."""
    here = membership()
    return str(here["name"] if here is not None else g.account_id)


def may(scope: str) -> bool:
    """Whether the person's role has a scope in the account of the path."""
    return scope in account_tokens().current().scopes


def require(scope: str) -> None:
    """Raise NotAllowed for a page whose form would be refused when it is sent."""
    if not may(scope):
        raise NotAllowed


def _api_id(account_id: str) -> int | str:
    """The id as the API wrote it: a number, or text."""
    return int(account_id) if NUMBER.fullmatch(account_id) else account_id
