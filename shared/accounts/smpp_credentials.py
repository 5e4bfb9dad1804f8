"""Credentials for the SMPP server: create, change, rotate and revoke them, and who is bound.

SMPP 3.4 has 15 characters for a system_id and 8 for a password (§4.1), and many clients cut longer ones. So API keys
cannot be used, and a password is made here, of 47 random bits. Only its HMAC is stored. Guessing is limited at the
bind, by address and by system_id, and a credential is bound to networks unless somebody decides otherwise.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy import Connection, Select, bindparam, delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.administration import Refused, lock_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.key_checks import allowed_networks
from shared.accounts.refused import Missing
from shared.accounts.sandbox import IDS_WITH_SANDBOX, ensure_sandbox
from shared.api_key import ALPHABET as LETTERS
from shared.api_key import MAX_NETWORKS, Network, hash_secret
from shared.db.tables.accounts import account
from shared.db.tables.base import THIS_TRANSACTION
from shared.db.tables.smpp import smpp_bind, smpp_credential
from shared.ids import FIRST_ID, LAST_ID, new_id

Alphabet = Literal["gsm", "latin1", "utf8"]
"""What a customer's data_coding 0 means."""
ALPHABETS: Final[tuple[str, ...]] = get_args(Alphabet)
PASSWORD_LENGTH = 8
MAX_CREDENTIALS = 20
"""Credentials of an account that are not revoked."""
MAX_CREATED_PER_DAY = 100
"""Credentials that an account can create in 24 hours, whatever became of them."""
MAX_BINDS, MAX_WINDOW = 50, 1_000
SCOPES: Final = frozenset({"sms:send", "sms:read"})
"""What a bind may do."""
ALIVE, DEAD = timedelta(seconds=10), timedelta(minutes=10)
"""How long a bind counts after its process has renewed it last, and how long it can still be renewed."""
SYSTEM_ID = re.compile(r"[A-Za-z0-9_.-]{1,15}")
KEY_PREFIX = "smpp "
"""Begins the `api_key_id` of sends over SMPP, before the system_id."""

OF = smpp_credential.c
BIND = smpp_bind.c
IS_LIVE = OF.revoked_at.is_(None)
IS_ALIVE = BIND.alive_until > func.clock_timestamp()
OF_ACCOUNT: Final = OF.account_id.in_(IDS_WITH_SANDBOX.correlate(None))
DEFAULTS: Final = {"max_binds": 2, "window_size": 10, "rate": None, "alphabet": "gsm", "default_sender": None}
"""Of the settings of a credential, except its networks."""
SETTINGS: Final = ("networks", *DEFAULTS)
CREATED_TODAY = OF.created_at > func.now() - timedelta(days=1)
COUNT = select(func.count().filter(IS_LIVE), func.count().filter(CREATED_TODAY)).where(
    OF.account_id == bindparam("account")
)
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
CHANGE = update(smpp_credential).where(OF.id == bindparam("credential"))
LISTED = (
    select(*OF["id", "system_id", "account_id"], account.c.sandbox_of.is_not(None).label("test"))
    .add_columns(*OF[SETTINGS], *OF["created_at", "revoked_at"])
    .join(account, account.c.id == OF.account_id)
    .order_by(OF.system_id)
)
BINDS = (
    select(*OF["system_id", "account_id"], *BIND["id", "credential_id", "kind", "address"], BIND.bound_at)
    .join(smpp_credential, OF.id == BIND.credential_id)
    .where(IS_ALIVE)
    .order_by(BIND.id)
)
CREATE = (
    insert(smpp_credential)
    .values(xid=THIS_TRANSACTION, event_id=LAST_ID)
    .on_conflict_do_nothing(index_elements=[OF.system_id])
)
REHASH = CHANGE.where(OF.password_hash == bindparam("old_hash")).values(password_hash=bindparam("new_hash"))
ADD_BIND = insert(smpp_bind).values(alive_until=func.clock_timestamp() + ALIVE)
DROP_BINDS = delete(smpp_bind).where(or_(BIND.id == bindparam("bind"), BIND.alive_until < func.now() - DEAD))
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
    test: bool = False,
    by: Actor | None = None,
    **settings: Any,
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
    live, created = connection.execute(COUNT, {"account": owner}).one()
    if live >= MAX_CREDENTIALS:
        raise Refused(f"An account has at most {MAX_CREDENTIALS} SMPP credentials. Revoke one that is not needed.")
    if created >= MAX_CREATED_PER_DAY:
        raise Refused(f"{MAX_CREATED_PER_DAY} credentials were created in a day. Rotate one instead of replacing it.")
    properties = _checked({**DEFAULTS, **settings, "networks": networks})
    made = NewCredential(system_id, _new_password())
    keys = {"id": new_id(), "system_id": system_id, "account_id": owner}
    keys["password_hash"] = hash_secret(made.password, pepper)
    is_taken = connection.execute(HAS, {"system_id": system_id}).scalar_one()
    if is_taken or not connection.execute(CREATE, keys | properties).rowcount:
        raise Refused(f"The system_id {system_id!r} is taken. Choose another.")
    after = {name: value for name, value in properties.items() if value is not None}
    record(connection, by, "smpp.created", account_id=owner, subject=system_id, after=after)
    return made


def change_credential(
    connection: Connection, own: Mapping[str, Any], changes: Mapping[str, Any], *, by: Actor | None = None
) -> None:
    """Change SETTINGS of a credential that `find_own` has locked. They hold from the next bind; open binds keep theirs.

    The alphabet is of all binds, as any of them may get a message from a phone: it cannot change while one is open.
    Raises Refused.
    """
    before = {name: own[name] for name in SETTINGS}
    after = _checked({**before, **changes})
    changed = {name: value for name, value in after.items() if value != before[name]}
    if not changed:
        return
    if "alphabet" in changed and own["binds"]:
        raise Refused("The alphabet cannot change while the credential has open binds. Unbind first.")
    generation = OF.generation + int("alphabet" in changed)  # ends a bind that has begun with the other one
    old = {name: before[name] for name in changed}
    _change(connection, own, {"generation": generation, **changed}, by, "smpp.changed", before=old, after=changed)


def rotate_password(
    connection: Connection, own: Mapping[str, Any], pepper: str, *, by: Actor | None = None
) -> NewCredential:
    """Give a credential that `find_own` has locked a new password. The old one stops working at once, and its binds end
    within seconds."""
    made = NewCredential(own["system_id"], _new_password())
    change = {"password_hash": hash_secret(made.password, pepper), "generation": OF.generation + 1}
    _change(connection, own, change, by, "smpp.rotated")
    return made


def revoke_credential(connection: Connection, own: Mapping[str, Any], *, by: Actor | None = None) -> None:
    """Revoke a credential that `find_own` has locked. Its binds end within seconds; receipts that wait are not
    delivered any more."""
    _change(connection, own, {"revoked_at": func.clock_timestamp()}, by, "smpp.revoked")


def _change(
    connection: Connection, own: Mapping[str, Any], values: Mapping[str, Any], by: Actor | None, kind: str, **of: Any
) -> None:
    connection.execute(CHANGE.values(values), {"credential": own["id"]})
    record(connection, by, kind, account_id=own["account_id"], subject=own["system_id"], **of)


def find_own(
    connection: Connection, name: UUID | str, account_id: int | None = None, *, lock: bool = True
) -> dict[str, Any]:
    """A credential that is not revoked, by its id or system_id. With `account_id` it must be of that account or its
    sandbox. Raises Missing."""
    found = LISTED.where((OF.id if isinstance(name, UUID) else OF.system_id) == name, IS_LIVE)
    found = found.where(OF_ACCOUNT) if account_id is not None else found
    if shown := _shown(connection, found.with_for_update(of=smpp_credential) if lock else found, account_id):
        return shown[0]
    raise Missing(f"There is no SMPP credential {str(name)!r}.", "`bulksms smpp list` shows them all.")


def list_credentials(
    connection: Connection,
    account_id: int | None = None,
    *,
    after: str = "",
    limit: int | None = None,
    all: bool = False,
) -> list[dict[str, Any]]:
    """Credentials of one account and its sandbox, or of all accounts; with `all` also those that are revoked."""
    chosen = LISTED if account_id is None else LISTED.where(OF_ACCOUNT)
    chosen = chosen if all else chosen.where(IS_LIVE)
    return _shown(connection, chosen.where(OF.system_id > after).limit(limit), account_id)


def list_binds(
    connection: Connection, account_id: int | None = None, *, after: UUID = FIRST_ID, limit: int | None = None
) -> list[dict[str, Any]]:
    """Open binds of one account and its sandbox, or of all, oldest first."""
    chosen = BINDS if account_id is None else BINDS.where(OF_ACCOUNT)
    rows = connection.execute(chosen.where(BIND.id > after).limit(limit), {"account": account_id})
    return [dict(row) for row in rows.mappings()]


def find_credential(connection: Connection, system_id: str) -> Credential | None:
    """A credential that is not revoked."""
    row = connection.execute(FIND, {"system_id": system_id}).one_or_none()
    return None if row is None else Credential._make(row)


def rehash_password(connection: Connection, credential: Credential, password: str, pepper: str) -> None:
    """Store the hash of a password that was just verified under today's SECRET_KEY."""
    old = {"credential": credential.id, "old_hash": credential.password_hash}
    connection.execute(REHASH, {**old, "new_hash": hash_secret(password, pepper)})


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


def _shown(connection: Connection, statement: Select[Any], account_id: int | None) -> list[dict[str, Any]]:
    """The credentials with their open binds."""
    found = [dict(row) for row in connection.execute(statement, {"account": account_id}).mappings()]
    binds = connection.execute(BINDS.where(BIND.credential_id.in_([each["id"] for each in found]))).mappings().all()
    for each in found:
        each["networks"] = each["networks"] and [str(network) for network in each["networks"]]
        each["binds"] = [dict(bind) for bind in binds if bind["credential_id"] == each["id"]]
    return found


def _checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are stored. Raises Refused."""
    allowed, rate = allowed_networks(settings["networks"]), settings["rate"]
    if settings["networks"] is not None and not 0 < len(allowed or ()) <= MAX_NETWORKS:
        raise Refused(f"Name 1 to {MAX_NETWORKS} networks.")
    are_within = 0 < settings["max_binds"] <= MAX_BINDS and 0 < settings["window_size"] <= MAX_WINDOW
    if not (are_within and (rate is None or 0 < rate < 2**31)):
        raise Refused(f"A credential has 1 to {MAX_BINDS} binds, a window of 1 to {MAX_WINDOW:,}, and a positive rate.")
    return {**settings, "networks": allowed}
