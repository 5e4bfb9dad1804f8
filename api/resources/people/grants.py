"""Nobody gives, changes or takes away a role with more permissions than their own."""

from sqlalchemy import Connection

from api.auth.tokens import Caller
from api.problems import Problem
from api.resources.api_keys.own_key import own_key
from shared.accounts.api_keys import exceeds
from shared.people.roles import ROLE_SCOPES
from shared.scopes import SCOPES


def refuse_more(connection: Connection, caller: Caller, role: str) -> None:
    """Raise Problem insufficient_scope if the role has more permissions than the caller.

    A person of an account is bound to no network, time or rate, so a key that is may not manage people.
    """
    own = own_key(connection, caller)
    person = own._replace(scopes=list(ROLE_SCOPES[role]), allowed_ips=None, expires_at=None, requests_per_second=None)
    excess = exceeds(own, person)
    if excess in SCOPES:
        raise Problem(
            "insufficient_scope", f"You do not have the scope {excess} of a person in that role.", scope=excess
        )
    if excess is not None:
        raise Problem("insufficient_scope", f"Your own key is more restricted than a person: see its `{excess}`.")
