"""Who may bind. RINVPASWD is only for wrong credentials: many clients never try again after it. What heals by itself,
or is for the operator to change, is RBINDFAIL."""

from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from api.auth.tokens import Caller
from api.http.client_address import address_block
from api.problems import Problem
from api.services import Services
from api.smpp.errors import RefusedPdu
from shared.accounts.smpp_credentials import (
    KEY_PREFIX,
    SCOPES,
    Credential,
    add_bind,
    find_credential,
    rehash_password,
)
from shared.api_key import is_within, matches, secret_key_id
from shared.carriers.smpp.constants import Status
from shared.carriers.smpp.pdu import Bind
from shared.db.connection import reading
from shared.outbox import listen


class Bound(NamedTuple):
    """A bind: its row, its credential, and who sends by it."""

    id: UUID
    credential: Credential
    caller: Caller
    kind: str

    @property
    def sends(self) -> bool:
        """Whether it may submit."""
        return self.kind != "receiver"

    @property
    def receives(self) -> bool:
        """Whether it gets deliveries."""
        return self.kind != "transmitter"


def bind(services: Services, request: Bind, kind: str, address: str) -> Bound:
    """Bind, or raise RefusedPdu. Blocks. From then on the account's events are kept for its receivers."""
    try:
        credential = _authenticated(services, request, address)
    except Problem as problem:
        wrong = problem.code == "invalid_credentials"
        raise RefusedPdu(Status.ESME_RINVPASWD if wrong else Status.ESME_RBINDFAIL) from None
    listen(services.engine, credential.account_id)
    with services.engine.begin() as connection:
        if credential.password_hash[:4] != secret_key_id(services.settings.secret_key):
            rehash_password(connection, credential, request.password, services.settings.secret_key)
        row = add_bind(connection, credential, kind, address)
    if row is None:
        raise RefusedPdu(Status.ESME_RBINDFAIL)
    return Bound(row, credential, _caller_of(credential), kind)


def _authenticated(services: Services, request: Bind, address: str) -> Credential:
    """The credential of a bind from an address that may use it. Raises Problem."""
    with reading(services.engine) as connection:
        credential = find_credential(connection, request.system_id)
    is_known = credential is not None and credential.networks is not None and _is_allowed(credential, address)
    attempts, block = services.password_attempts, address_block(address)
    keys = (services.settings.secret_key, *services.settings.secret_key_fallbacks)
    name = f"{KEY_PREFIX}{request.system_id[:64]}"
    with attempts.of_address(block), attempts.of_email(name, block, is_known_network=is_known):
        if credential is None or not matches(bytes(credential.password_hash), request.password, keys):
            raise Problem("invalid_credentials", "The system_id or the password is wrong.")
    if not _is_allowed(credential, address):
        raise Problem("ip_not_allowed", "This credential may not be used from this address.")
    if credential.account_state != "active":
        raise Problem("account_suspended", "This account may not use the service at the moment.")
    return credential


def _is_allowed(credential: Credential, address: str) -> bool:
    return credential.networks is None or is_within(address, credential.networks)


def _caller_of(credential: Credential) -> Caller:
    return Caller(
        account_id=credential.account_id,
        key_id=f"{KEY_PREFIX}{credential.system_id}",
        test=credential.test,
        scopes=SCOPES,
        token_id="",
        expires_at=datetime.max.replace(tzinfo=UTC),
        rate=credential.rate,
    )
