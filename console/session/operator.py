"""The operator API on behalf of the person who is signed in.

Administrators see texts and full phone numbers. Support staff see them for an hour after they have given a reason,
which the API records with each token. The reason is in the cookie, so that all processes of the console know it.
"""

import time
from functools import partial

from bulksms_client.operator import OperatorThemes
from flask import g, session

from console.session.current import KeptTokens, api, forwarded, me
from console.session.shown_again import GuardedTransport, refuse_changes

REASON, REASON_ENDS = "reason", "reason_ends"
REASON_SECONDS = 3600


def operator_tokens() -> KeptTokens:
    """The person's tokens for the operator API."""
    return KeptTokens(("operator", reason()), partial(me().operator_token, reason()))


def operator() -> OperatorThemes:
    """The operator API on behalf of the person."""
    if "operator" not in g:
        g.operator = OperatorThemes(GuardedTransport(api().operator_wire, operator_tokens(), forwarded()))
    themes: OperatorThemes = g.operator
    return themes


def operator_may(scope: str) -> bool:
    """Whether the person's role in the installation has a scope."""
    return scope in operator_tokens().current().scopes


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
        operator_tokens().renew()
    except Exception:
        session.update(before)
        raise


def end_reason() -> None:
    """Hide them again."""
    session.pop(REASON, None)
    session.pop(REASON_ENDS, None)
