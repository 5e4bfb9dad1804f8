"""What customers and operators do with the SMPP credentials of an account."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from api.actor import by_caller
from api.auth.operator_tokens import Operator
from api.auth.tokens import Caller
from api.commit.draft import encode
from api.endpoint import key_of_request, services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, text_cursor
from api.http.request import current_request
from api.idempotency import IdempotentResponse, once, once_with_secret
from shared.accounts import smpp_credentials as credentials
from shared.accounts.smpp_credentials import find_own, list_credentials
from shared.db.connection import reading
from shared.events.replays import first_xid, replay_to_credential


class CredentialActions(NamedTuple):
    """What a caller does with the credentials of an account and its sandbox."""

    caller: Caller | Operator
    account_id: int
    begin: Callable[[], AbstractContextManager[Connection]]
    """A transaction of a caller who may still act."""
    check: Callable[[Connection, Mapping[str, Any]], None]
    """Raises Problem if the caller may not give a credential these settings."""

    def page(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """A page of the list."""
        limit, after = query["limit"], text_cursor(query.get("cursor"))
        with reading_list(services().engine) as connection:
            rows = list_credentials(connection, self.account_id, after=after, limit=limit + 1)
        return page(rows, limit, lambda row: str(row["system_id"]))

    def create(self, body: dict[str, Any]) -> IdempotentResponse:
        """A new credential, once."""

        def act(connection: Connection) -> tuple[dict[str, Any], str]:
            self.check(connection, {"rate": None, **body})
            pepper, by = services().settings.secret_key, by_caller(self.caller)
            made = credentials.create_credential(connection, self.account_id, pepper=pepper, by=by, **body)
            return find_own(connection, made.system_id), made.password

        return self._once(body, act)

    def change(self, credential_id: UUID, body: Mapping[str, Any]) -> dict[str, Any]:
        """Other settings."""
        with self.begin() as connection:
            own = self._own(connection, credential_id)
            self.check(connection, {**own, **body})
            credentials.change_credential(connection, own, body, by=by_caller(self.caller))
            return find_own(connection, credential_id)

    def rotate(self, credential_id: UUID) -> IdempotentResponse:
        """A new password, once."""

        def act(connection: Connection) -> tuple[dict[str, Any], str]:
            own, pepper = self._own(connection, credential_id), services().settings.secret_key
            return own, credentials.rotate_password(connection, own, pepper, by=by_caller(self.caller)).password

        return self._once(None, act)

    def revoke(self, credential_id: UUID) -> dict[str, Any]:
        """No bind any more."""
        with self.begin() as connection:
            own = self._own(connection, credential_id)
            credentials.revoke_credential(connection, own, by=by_caller(self.caller))
        return own | {"revoked": True}

    def replay(self, credential_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
        """Deliveries since a time again, once."""
        with reading(services().engine) as connection:
            owner = find_own(connection, credential_id, self.account_id, lock=False)["account_id"]
            xid = first_xid(connection, owner, body["since"])
        key = key_of_request(self.caller, body)

        def act() -> str:
            own = self._own(connection, credential_id)
            replay_to_credential(connection, own, body["since"], xid, by=by_caller(self.caller))
            return encode(current_request().show(own | body))

        with self.begin() as connection:
            return once(connection, key, act)

    def _own(self, connection: Connection, credential_id: UUID) -> dict[str, Any]:
        own = find_own(connection, credential_id, self.account_id)
        self.check(connection, own)
        return own

    def _once(
        self, body: dict[str, Any] | None, act: Callable[[Connection], tuple[dict[str, Any], str]]
    ) -> IdempotentResponse:
        """Only the first response contains the password, which is never stored."""

        def shown() -> tuple[dict[str, Any], str]:
            credential, password = act(connection)
            return current_request().show(credential), password

        key = key_of_request(self.caller, body)
        with self.begin() as connection:
            return once_with_secret(connection, key, "password", shown)
