"""The permissions of whoever makes a request, in the form of an API key."""

from sqlalchemy import Connection

from api.auth.tokens import Caller
from shared.accounts.api_keys import ApiKey, find_key


def own_key(connection: Connection, caller: Caller) -> ApiKey:
    """The caller's API key; for a person, one with the scopes of their role and no other restriction."""
    if caller.membership is None:
        key = find_key(connection, caller.account_id, caller.key_id)
        assert key is not None
        return key
    return ApiKey(
        id=caller.key_id,
        name=None,
        test=caller.test,
        scopes=sorted(caller.scopes),
        allowed_ips=None,
        requests_per_second=None,
        created_at=None,
        expires_at=None,
        revoked_at=None,
        last_used_at=None,
        old_secret_expires_at=None,
    )
