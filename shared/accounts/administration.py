"""Administration of accounts: create, suspend, freeze and close them, and create API keys.

Every function works in the connection's transaction, and raises Refused, without a change, for what is not possible.
Changes are recorded in the audit log (shared/accounts/audit_log.py) with the actor `by`, by default the operator.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, Row, Text, bindparam, cast, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.audit_log import WORKER, Actor, record
from shared.accounts.key_checks import allowed_networks, check_scopes
from shared.accounts.refused import Refused as Refused
from shared.accounts.refused import no_account
from shared.accounts.sandbox import IDS_WITH_SANDBOX, NAME_SUFFIX, WITH_SANDBOX, ensure_sandbox, is_sandbox
from shared.api_key import NewKey, hash_secret, make_key
from shared.db.expressions import in_parameter
from shared.db.tables import accounts
from shared.db.tables.sends import send
from shared.db.tables.smpp import smpp_credential
from shared.scopes import DEFAULT_SCOPES, SCOPES

ACCOUNTS, KEYS = accounts.account.c, accounts.api_key.c
CREATE = insert(accounts.account).on_conflict_do_nothing(index_elements=[ACCOUNTS.name]).returning(ACCOUNTS.id)
NAMED = ACCOUNTS.name == bindparam("account", type_=Text)
FIND = (
    select(ACCOUNTS.id)
    .where(or_(cast(ACCOUNTS.id, Text) == bindparam("account", type_=Text), NAMED))
    .order_by(NAMED.desc())
)
LOCK = (
    select(accounts.TO_SPEND.label("available"), ACCOUNTS.state)
    .where(ACCOUNTS.id == bindparam("account"))
    .with_for_update(key_share=True)
)
LOCK_WITH_SANDBOX = (
    select(ACCOUNTS.id, ACCOUNTS.state, ACCOUNTS.available)
    .where(WITH_SANDBOX)
    .order_by(ACCOUNTS.id)
    .with_for_update(key_share=True)
)
OPEN_SENDS = (
    select(func.count())
    .select_from(send)
    .where(in_parameter(send.c.account_id, "accounts"), send.c.completed_at.is_(None))
)
CHANGE = update(accounts.account).where(WITH_SANDBOX)
SET_STATE = CHANGE.values(state=bindparam("new_state"), updated_at=func.clock_timestamp())
FREEZE = (
    update(accounts.account)
    .where(or_(in_parameter(ACCOUNTS.id, "accounts"), in_parameter(ACCOUNTS.sandbox_of, "accounts")))
    .where(ACCOUNTS.state.not_in(["frozen", "closed"]))
    .values(state="frozen", updated_at=func.clock_timestamp())
    .returning(ACCOUNTS.id)
)
ALLOW_AUTHENTICATION = CHANGE.values(authentication=bindparam("allowed"))
REVOKE_KEY = (
    update(accounts.api_key)
    .where(KEYS.id == bindparam("key"), KEYS.revoked_at.is_(None))
    .values(revoked_at=func.clock_timestamp())
    .returning(KEYS.account_id)
)
REVOKE_KEYS = (
    update(accounts.api_key)
    .where(KEYS.account_id.in_(IDS_WITH_SANDBOX), KEYS.revoked_at.is_(None))
    .values(revoked_at=func.clock_timestamp())
)
REVOKE_SMPP = (
    update(smpp_credential)
    .where(smpp_credential.c.account_id.in_(IDS_WITH_SANDBOX), smpp_credential.c.revoked_at.is_(None))
    .values(revoked_at=func.clock_timestamp())
)
HAS_KEY = select(exists().where(KEYS.id == bindparam("key")))


def create_account(
    connection: Connection,
    name: str,
    low_balance_threshold: int = 100,
    weight: int = 1,
    *,
    authentication: bool = False,
    by: Actor | None = None,
) -> int:
    """Create an account without credits. Returns its id.

    `weight` is its relative share of the carriers' rates: with 2, its sends are twice as fast as with 1.
    `authentication` allows sends in that category.
    """
    check_name(name)
    if weight < 1 or low_balance_threshold < 0:
        raise Refused("The weight of an account is at least 1 and its low balance threshold at least 0.")
    values = {
        "name": name,
        "low_balance_threshold": low_balance_threshold,
        "weight": weight,
        "authentication": authentication,
    }
    account = connection.execute(CREATE, values).scalar()
    if account is None:
        raise Refused(f"The account {name!r} already exists. Choose another name.", code="name_taken")
    record(
        connection,
        by,
        "account.created",
        account_id=account,
        subject=name,
        after={"weight": weight, "authentication": authentication},
    )
    return int(account)


def check_name(name: str) -> None:
    """Raise Refused for an invalid name of a live account."""
    if not name.strip() or name.strip() != name or name.isdigit() or not name.isprintable():
        raise Refused(
            f"{name!r} is not a valid account name. Use more than digits, without control characters or spaces around."
        )
    if name.endswith(NAME_SUFFIX):
        raise Refused(f"{name!r} is the name of a sandbox, which is made with an account's first test key.")


def lock_account(connection: Connection, account_id: int) -> Row[int, str]:
    """Lock the account's row; returns its `state` and what it can spend, `available`. Raises Refused without one."""
    row = connection.execute(LOCK, {"account": account_id}).one_or_none()
    if row is None:
        raise no_account(account_id)
    return row


def find_account(connection: Connection, account: str) -> int:
    """The id of the account with this id or name. Raises Refused if there is none."""
    account_id = connection.execute(FIND, {"account": account}).scalar()
    if account_id is None:
        raise no_account(account)
    return int(account_id)


def suspend_account(
    connection: Connection, account_id: int, reason: str | None = None, *, by: Actor | None = None
) -> None:
    """Suspend the account: it accepts no new sends, and its tokens stop working."""
    _set_state(connection, account_id, "suspended", reason, by)


def activate_account(
    connection: Connection, account_id: int, reason: str | None = None, *, by: Actor | None = None
) -> None:
    """Activate a suspended or frozen account."""
    _set_state(connection, account_id, "active", reason, by)


def allow_authentication(
    connection: Connection, account_id: int, allowed: bool, reason: str | None = None, *, by: Actor | None = None
) -> None:
    """Allow or forbid the category `authentication` for sends of the account and its sandbox."""
    values = {"account": account_id, "allowed": allowed}
    if not connection.execute(ALLOW_AUTHENTICATION, values).rowcount:
        raise no_account(account_id)
    after = {"authentication": allowed}
    record(connection, by, "account.authentication_set", account_id=account_id, after=after, reason=reason)


def freeze_accounts(connection: Connection, account_ids: Iterable[int]) -> list[int]:
    """Freeze accounts whose credits do not add up. Returns those that were not frozen before."""
    frozen = sorted(connection.execute(FREEZE, {"accounts": sorted(account_ids)}).scalars())
    for account in frozen:
        record(connection, WORKER, "account.frozen", account_id=account, after={"state": "frozen"})
    return frozen


def create_key(
    connection: Connection,
    account_id: int,
    pepper: str,
    test: bool = False,
    scopes: Sequence[str] = DEFAULT_SCOPES,
    expires_at: datetime | None = None,
    *,
    name: str | None = None,
    allowed_ips: Sequence[str] | None = None,
    requests_per_second: int | None = None,
    by: Actor | None = None,
) -> NewKey:
    """Create an API key. Its secret is returned here and stored nowhere; `pepper` is the installation's SECRET_KEY.

    A `test` key belongs to the account's sandbox, which is created if needed; every key of a sandbox is a test key. The
    row of the key's account or sandbox stays locked, so that its keys can be counted. `allowed_ips` are the only
    networks (`192.0.2.0/24`) that may use the key; None: no restriction.
    """
    allowed = allowed_networks(allowed_ips)
    check_scopes(scopes, SCOPES)
    row = lock_account(connection, account_id)
    if row.state == "closed":
        raise Refused("The account is closed.")
    owner = ensure_sandbox(connection, account_id, by=by) if test else account_id
    test = test or is_sandbox(connection, owner)
    key = make_key(test)
    properties = {
        "test": test,
        "scopes": sorted(scopes),
        "expires_at": expires_at,
        "name": name,
        "allowed_ips": allowed,
        "requests_per_second": requests_per_second,
    }
    secret_hash = hash_secret(key.api_secret, pepper)
    row_of_key = {**properties, "id": key.api_key, "account_id": owner, "secret_hash": secret_hash}
    connection.execute(insert(accounts.api_key), row_of_key)
    after = {name: value for name, value in properties.items() if value is not None}
    record(connection, by, "key.created", account_id=owner, subject=key.api_key, after=after)
    return key


def revoke_key(connection: Connection, key_id: str, *, by: Actor | None = None) -> None:
    """Revoke a key and, within seconds, its tokens. Revoking it again changes nothing."""
    account = connection.execute(REVOKE_KEY, {"key": key_id}).scalar()
    if account is not None:
        record(connection, by, "key.revoked", account_id=account, subject=key_id)
    elif not connection.execute(HAS_KEY, {"key": key_id}).scalar():
        raise Refused(f"There is no API key {key_id}.", "`bulksms key list ACCOUNT` shows an account's keys.")


def close_account(connection: Connection, account_id: int, reason: str, *, by: Actor | None = None) -> None:
    """Close the account and its sandbox: they accept nothing, their keys and SMPP credentials are revoked, for good.

    Its history, its ledger and the credits that are left stay. Closing it again changes nothing. Raises Refused while
    sends are open, and for a sandbox.
    """
    if is_sandbox(connection, account_id):
        raise Refused("This is a sandbox, which is closed with its account.")
    its = connection.execute(LOCK_WITH_SANDBOX, {"account": account_id}).all()
    row = next((each for each in its if each.id == account_id), None)
    if row is None:
        raise no_account(account_id)
    if row.state == "closed":
        return
    count = connection.execute(OPEN_SENDS, {"accounts": [each.id for each in its]}).scalar_one()
    if count:
        raise Refused(f"The account has open sends: {count:,}. Cancel them, or wait until they have completed.")
    connection.execute(SET_STATE, {"account": account_id, "new_state": "closed"})
    keys = connection.execute(REVOKE_KEYS, {"account": account_id}).rowcount
    smpp = connection.execute(REVOKE_SMPP, {"account": account_id}).rowcount
    before = {"state": row.state, "available": row.available}
    after = {"state": "closed", "keys_revoked": keys, "smpp_revoked": smpp}
    record(connection, by, "account.closed", account_id=account_id, before=before, after=after, reason=reason)


def _set_state(connection: Connection, account_id: int, state: str, reason: str | None, by: Actor | None) -> None:
    row = lock_account(connection, account_id)
    before = row.state
    if before == "closed":
        raise Refused("The account is closed, which cannot be undone.")
    if before == "frozen" and state == "suspended":
        raise Refused("The account is frozen, which stops more than a suspension does. Activate it first.")
    connection.execute(SET_STATE, {"account": account_id, "new_state": state})
    what = "account.activated" if state == "active" else f"account.{state}"
    record(connection, by, what, account_id=account_id, before={"state": before}, after={"state": state}, reason=reason)
