"""Check in the transaction of a change that its caller may still make it.

Other requests go by revocations that are up to a few seconds old. A change that makes credentials or gives rights
lasts, so whoever was just removed, demoted or revoked must not make it in those seconds.

Every such transaction locks in the same order, so that none deadlocks: the caller's token, owners of the account, the
caller, other keys.
"""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.auth.revocations import lock_token
from api.auth.tokens import Caller, bearer_error
from api.problems import Problem
from shared.accounts.api_keys import lock_keys
from shared.accounts.operator_keys import lock_operator_key
from shared.people.memberships import lock_membership, lock_owners
from shared.people.sessions import lock_session


def lock_caller(
    connection: Connection, caller: Caller, other_keys: Collection[str] = (), *, owners: bool = False
) -> None:
    """Lock the caller's token and what it depends on until the transaction ends, and the keys that it is to change.

    `owners` also locks the memberships of the account's owners, for a change of members.
    Raises Problem token_revoked if the token, the key, its secret, the membership or the session has ended or changed.
    """
    if not lock_token(connection, caller.token_id):
        raise _revoked("API key" if caller.membership is None else "session")
    if owners:
        lock_owners(connection, caller.account_id)
    if caller.membership is None:
        oldest = lock_keys(connection, {caller.key_id, *other_keys}).get(caller.key_id)
        if oldest is None or caller.generation < oldest:
            raise _revoked("API key")
        return
    account_id, version, session_id = caller.membership
    person_id = UUID(caller.key_id.removeprefix("person "))
    if lock_membership(connection, account_id, person_id) != version or not lock_session(connection, UUID(session_id)):
        raise _revoked("membership or session")
    lock_keys(connection, other_keys)


def lock_operator(connection: Connection, operator: Operator) -> None:
    """Lock what the operator's token depends on until the transaction ends. Raises Problem token_revoked.

    A change of a person's operator role ends their sessions.
    """
    kind, _, name = operator.actor.rpartition(" ")
    if kind == "operator key":
        if not lock_operator_key(connection, name):
            raise _revoked("operator key")
        return
    for holder in operator.ends_with:
        if not lock_session(connection, UUID(holder.removeprefix("session "))):
            raise _revoked("session")


def _revoked(cause: str) -> Problem:
    return Problem("token_revoked", f"The token or its {cause} was revoked.", headers=bearer_error("invalid_token"))
