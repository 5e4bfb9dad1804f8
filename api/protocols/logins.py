"""The login of a protocol that has names and short passwords: an SMPP credential."""

from datetime import UTC, datetime

from api.auth.tokens import Caller
from api.problems import Problem
from api.services import Services
from shared.accounts.smpp_credentials import KEY_PREFIX, SCOPES, Credential, find_credential, rehash_password
from shared.address_block import address_block
from shared.api_key import is_within, matches, secret_key_id
from shared.db.connection import reading


def log_in(services: Services, system_id: str, password: str, address: str) -> Credential:
    """The credential of a login from an address that may use it. Raises Problem. Blocks."""
    with reading(services.engine) as connection:
        credential = find_credential(connection, system_id)
    is_known = credential is not None and credential.networks is not None and _is_allowed(credential, address)
    attempts, block = services.password_attempts, address_block(address)
    secret_key = services.settings.secret_key
    name = f"{KEY_PREFIX}{system_id[:64]}"
    keys = (secret_key, *services.settings.secret_key_fallbacks)
    is_right = credential is not None and matches(bytes(credential.password_hash), password, keys)
    logins = services.known_logins
    if not is_right or logins.account_of(system_id, password) is None:  # others' failures do not lock out a known login
        logins.note(system_id, password, None)
        with attempts.of_address(block), attempts.of_email(name, block, is_known_network=is_known):
            if not is_right:
                raise Problem("invalid_credentials", "The system_id or the password is wrong.")
    assert credential is not None
    if not _is_allowed(credential, address):
        raise Problem("ip_not_allowed", "This credential may not be used from this address.")
    if credential.account_state != "active":
        raise Problem("account_suspended", "This account may not use the service at the moment.")
    if credential.password_hash[:4] != secret_key_id(secret_key):
        with services.engine.begin() as connection:
            rehash_password(connection, credential, password, secret_key)
    logins.note(system_id, password, credential.account_id)
    return credential


def caller_of(credential: Credential) -> Caller:
    """Who sends by a credential."""
    return Caller(
        account_id=credential.account_id,
        key_id=f"{KEY_PREFIX}{credential.system_id}",
        test=credential.test,
        scopes=SCOPES,
        token_id="",
        expires_at=datetime.max.replace(tzinfo=UTC),
        rate=credential.rate,
    )


def _is_allowed(credential: Credential, address: str) -> bool:
    return credential.networks is None or is_within(address, credential.networks)
