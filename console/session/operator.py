"""The operator API on behalf of the person who is signed in.

Administrators see texts and full phone numbers. Support staff see them for an hour after they have given a reason,
which the API records with each token. The reason is in the cookie, so that all processes of the console know it.
"""

import time

from bulksms_client.operator import OperatorThemes
from flask import g, session

from console.session.current import SessionTokens, api, forwarded, me
from console.session.shown_again import GuardedTransport, refuse_changes
from console.session.token_cache import AccountToken, account_token, digest

REASON, REASON_ENDS = "reason", "reason_ends"
REASON_SECONDS = 3600


class OperatorTokens:
    """The person's tokens for the operator API."""

    def current(self) -> AccountToken:
        """The token with its scopes; a new one shortly before it expires."""
        kept = api().tokens.get(_key())
        return kept if kept is not None else _new_token()

    def token(self) -> str:
        """The token."""
        return self.current().token

    def drop(self, token: str) -> None:
        """Forget the token, so that the next request gets a new one."""
        api().tokens.drop(_key())


def operator() -> OperatorThemes:
    """The operator API on behalf of the person."""
    if "operator" not in g:
        g.operator = OperatorThemes(GuardedTransport(api().operator_wire, OperatorTokens(), forwarded()))
    themes: OperatorThemes = g.operator
    return themes


def operator_may(scope: str) -> bool:
    """Whether the person's role in the installation has a scope."""
    return scope in OperatorTokens().current().scopes


def reason() -> str | None:
    """Why the person sees texts and full phone numbers at present."""
    given = session.get(REASON)
    return str(given) if given and time.time() < session.get(REASON_ENDS, 0) else None


def give_reason(text: str) -> None:
    """Show texts and full phone numbers for an hour. Raises ApiError for a reason that the API does not take."""
    refuse_changes()
    before = {name: session.get(name) for name in (REASON, REASON_ENDS)}
    session.update({REASON: text, REASON_ENDS: time.time() + REASON_SECONDS})
    try:
        _new_token()
    except Exception:
        session.update(before)
        raise


def end_reason() -> None:
    """Hide them again."""
    session.pop(REASON, None)
    session.pop(REASON_ENDS, None)


def _new_token() -> AccountToken:
    return api().tokens.put(_key(), account_token(me().operator_token(reason())))


def _key() -> tuple[str, str, str | None]:
    return digest(SessionTokens().token()), "operator", reason()
