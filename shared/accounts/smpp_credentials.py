"""Credentials for the SMPP server: create, rotate, revoke and find them.

SMPP 3.4 has 15 characters for a system_id and 8 for a password (§4.1), and many clients cut longer ones. So API keys
cannot be used, and a password is made here, of 47 random bits. Only its HMAC is stored. Guessing is limited at the
bind, by address and by system_id, and a credential is bound to networks unless somebody decides otherwise.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, or_, select, update

from shared.accounts.administration import Refused, lock_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.key_checks import allowed_networks
from shared.accounts.sandbox import IDS_WITH_SANDBOX, ensure_sandbox
from shared.api_key import ALPHABET as LETTERS
from shared.api_key import MAX_NETWORKS, Network, hash_secret
from shared.db.tables.accounts import account
from shared.db.tables.base import THIS_TRANSACTION
from shared.db.tables.smpp import smpp_bind, smpp_credential
from shared.ids import LAST_ID, new_id

Alphabet = Literal["gsm", "latin1", "utf8"]
"""What a customer's data_coding 0 means."""
ALPHABETS: Final[tuple[str, ...]] = get_args(Alphabet)
PASSWORD_LENGTH = 8
MAX_CREDENTIALS = 20
"""Credentials of an account that are not revoked."""
MAX_BINDS, MAX_WINDOW = 50, 1_000
ALIVE = timedelta(seconds=10)
"""For how long a bind counts after its process has renewed it last."""
SYSTEM_ID = re.compile(r"[A-Za-z0-9_.-]{1,15}")
KEY_PREFIX = "smpp "
"""Begins the `api_key_id` of sends over SMPP, before the system_id."""
UNREAD = """e.account_id = c.account_id AND (e.xid, e.id) >= (c.xid, batch_of(c.event_id))
                              AND (e.id <> batch_of(c.event_id) OR right(CAST(c.event_id AS text), 4) <> 'ffff')"""
"""SQL: event `e` has one behind the position of credential `c`."""

OF = smpp_credential.c
BIND = smpp_bind.c
IS_LIVE = OF.revoked_at.is_(None)
IS_ALIVE = BIND.alive_until > func.clock_timestamp()
BINDS = (
    select(func.count()).select_from(smpp_bind).where(BIND.credential_id == OF.id, IS_ALIVE).correlate(smpp_credential)
)
SHOWN = (
    *OF["id", "system_id", "account_id", "networks", "max_binds", "window_size", "rate", "alphabet", "default_sender"],
    *OF["created_at", "revoked_at"],
)
LIST = select(*SHOWN, BINDS.scalar_subquery().label("binds")).order_by(OF.system_id)
LIST_OF_ACCOUNT = LIST.where(OF.account_id.in_(IDS_WITH_SANDBOX))
COUNT = select(func.count()).where(OF.account_id == bindparam("account"), IS_LIVE)
HAS = select(exists().where(func.lower(OF.system_id) == func.lower(bindparam("system_id"))))
FIND = (
    select(
        *OF["id", "system_id", "account_id", "password_hash", "networks", "max_binds", "window_size", "rate"],
        *OF["alphabet", "default_sender", "generation"],
        account.c.state.label("account_state"),
        account.c.sandbox_of.is_not(None).label("test"),
    )
    .join(account, account.c.id == OF.account_id)
    .where(OF.system_id == bindparam("system_id"), IS_LIVE)
)
LOCK = select(OF.id).where(OF.id == bindparam("credential")).with_for_update()
CHANGE = update(smpp_credential).where(OF.system_id == bindparam("of_system_id"), IS_LIVE)
CREATE = insert(smpp_credential).values(xid=THIS_TRANSACTION, event_id=LAST_ID)
ROTATE = CHANGE.values(password_hash=bindparam("new_hash"), generation=OF.generation + 1).returning(OF.account_id)
REVOKE = CHANGE.values(revoked_at=func.clock_timestamp()).returning(OF.account_id)
REHASH = (
    update(smpp_credential)
    .where(OF.id == bindparam("of_id"), OF.password_hash == bindparam("old_hash"))
    .values(password_hash=bindparam("new_hash"))
)
ADD_BIND = insert(smpp_bind).values(alive_until=func.clock_timestamp() + ALIVE)
DROP_BINDS = delete(smpp_bind).where(or_(BIND.id == bindparam("bind"), BIND.alive_until < func.now() - ALIVE))
LIVE_BINDS = select(func.count()).where(BIND.credential_id == bindparam("credential"), IS_ALIVE)
RENEW = (
    update(smpp_bind)
    .where(BIND.id.in_(bindparam("binds", expanding=True)))
    .where(OF.id == BIND.credential_id, OF.generation == BIND.generation, IS_LIVE)
    .values(alive_until=func.clock_timestamp() + ALIVE)
    .returning(BIND.id)
)


class Credential(NamedTuple):
    """A credential, with the columns of FIND."""

    id: UUID
    system_id: str
    account_id: int
    password_hash: bytes
    networks: list[Network] | None
    """Where it may bind from; None: anywhere."""
    max_binds: int
    window_size: int
    rate: int | None
    alphabet: Alphabet
    default_sender: str | None
    generation: int
    account_state: str
    test: bool


class NewCredential(NamedTuple):
    """A new credential, whose password is shown only once."""

    system_id: str
    password: str


def create_credential(
    connection: Connection,
    account_id: int,
    system_id: str,
    pepper: str,
    *,
    networks: Sequence[str] | None,
    max_binds: int = 2,
    window_size: int = 10,
    rate: int | None = None,
    alphabet: Alphabet = "gsm",
    default_sender: str | None = None,
    test: bool = False,
    by: Actor | None = None,
) -> NewCredential:
    """Create a credential of the account, or with `test` of its sandbox. `networks` None: from anywhere.

    Raises Refused for what cannot be stored. `pepper` is the installation's SECRET_KEY.
    """
    row = lock_account(connection, account_id)
    if row.state == "closed":
        raise Refused("The account is closed.")
    owner = ensure_sandbox(connection, account_id, by=by) if test else account_id
    if not SYSTEM_ID.fullmatch(system_id):
        raise Refused("A system_id has 1 to 15 letters, digits, dots, hyphens or underscores.")
    if connection.execute(HAS, {"system_id": system_id}).scalar_one():
        raise Refused(f"The system_id {system_id!r} is taken. Choose another.")
    if connection.execute(COUNT, {"account": owner}).scalar_one() >= MAX_CREDENTIALS:
        raise Refused(f"An account has at most {MAX_CREDENTIALS} SMPP credentials. Revoke one that is not needed.")
    allowed = allowed_networks(networks)
    if networks is not None and not 0 < len(allowed or ()) <= MAX_NETWORKS:
        raise Refused(f"Name 1 to {MAX_NETWORKS} networks.")
    if not (0 < max_binds <= MAX_BINDS and 0 < window_size <= MAX_WINDOW and (rate is None or 0 < rate < 2**31)):
        raise Refused(f"A credential has 1 to {MAX_BINDS} binds, a window of 1 to {MAX_WINDOW:,}, and a positive rate.")
    password = _new_password()
    properties: dict[str, Any] = {"networks": allowed, "max_binds": max_binds, "window_size": window_size}
    properties |= {"rate": rate, "alphabet": alphabet, "default_sender": default_sender}
    keys = {"id": new_id(), "system_id": system_id, "account_id": owner, "password_hash": hash_secret(password, pepper)}
    connection.execute(CREATE, keys | properties)
    after = {name: value for name, value in properties.items() if value is not None}
    record(connection, by, "smpp.created", account_id=owner, subject=system_id, after=after)
    return NewCredential(system_id, password)


def rotate_password(connection: Connection, system_id: str, pepper: str, *, by: Actor | None = None) -> NewCredential:
    """Give a credential a new password. The old one stops working at once, and its binds end within seconds."""
    password = _new_password()
    values = {"of_system_id": system_id, "new_hash": hash_secret(password, pepper)}
    owner = connection.execute(ROTATE, values).scalar()
    if owner is None:
        raise _none(system_id)
    record(connection, by, "smpp.rotated", account_id=owner, subject=system_id)
    return NewCredential(system_id, password)


def revoke_credential(connection: Connection, system_id: str, *, by: Actor | None = None) -> None:
    """Revoke a credential. Its binds end within seconds; receipts that wait are not delivered any more."""
    owner = connection.execute(REVOKE, {"of_system_id": system_id}).scalar()
    if owner is None:
        raise _none(system_id)
    record(connection, by, "smpp.revoked", account_id=owner, subject=system_id)


def list_credentials(connection: Connection, account_id: int | None = None) -> list[dict[str, Any]]:
    """Credentials with the number of their open binds, of one account and its sandbox or of all."""
    statement = LIST if account_id is None else LIST_OF_ACCOUNT
    return [dict(row) for row in connection.execute(statement, {"account": account_id}).mappings()]


def find_credential(connection: Connection, system_id: str) -> Credential | None:
    """A credential that is not revoked."""
    row = connection.execute(FIND, {"system_id": system_id}).one_or_none()
    return None if row is None else Credential._make(row)


def rehash_password(connection: Connection, credential: Credential, password: str, pepper: str) -> None:
    """Store the hash of a password that was just verified under today's SECRET_KEY."""
    values = {"of_id": credential.id, "old_hash": credential.password_hash, "new_hash": hash_secret(password, pepper)}
    connection.execute(REHASH, values)


def add_bind(connection: Connection, credential: Credential, kind: str, address: str) -> UUID | None:
    """Store an open bind. Returns its id; None if there are as many as the credential may have."""
    connection.execute(LOCK, {"credential": credential.id})
    if connection.execute(LIVE_BINDS, {"credential": credential.id}).scalar_one() >= credential.max_binds:
        return None
    bind = new_id()
    values = {"credential_id": credential.id, "generation": credential.generation, "kind": kind, "address": address}
    connection.execute(ADD_BIND, {"id": bind, **values})
    return bind


def renew_binds(connection: Connection, binds: Sequence[UUID]) -> set[UUID]:
    """Renew open binds. Returns those that may stay: the credentials of the others were revoked or rotated."""
    return set(connection.execute(RENEW, {"binds": list(binds)}).scalars())


def drop_bind(connection: Connection, bind: UUID) -> None:
    """Remove a bind that has ended, and those that ended with their processes."""
    connection.execute(DROP_BINDS, {"bind": bind})


def _new_password() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(PASSWORD_LENGTH))


def _none(system_id: str) -> Refused:
    return Refused(f"There is no SMPP credential {system_id!r}.", "`bulksms smpp list` shows them all.")
