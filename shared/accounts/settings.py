"""Changes of an account's settings, and the reversal of a mistaken top-up.

As in shared/accounts/administration.py, everything works in the connection's transaction, is recorded in the audit log,
and raises Refused.
"""

from typing import Any, NamedTuple
from uuid import UUID, uuid5

from sqlalchemy import Connection, Update, and_, bindparam, case, exists, func, or_, select, update

from shared.accounts.administration import TOP_UPS, Refused, check_name
from shared.accounts.audit_log import Actor, record
from shared.accounts.retention import check_retention_days
from shared.accounts.sandbox import NAME_SUFFIX
from shared.db.tables.accounts import account
from shared.db.tables.money import ledger
from shared.ledger.ledger import Entry, post
from shared.sms.numbering import is_country

ROW = (
    select(
        account.c.name,
        account.c.country,
        account.c.low_balance_threshold,
        account.c.weight,
        account.c.retention_days,
        account.c.available,
        account.c.sandbox_of,
    )
    .where(account.c.id == bindparam("account"))
    .with_for_update(key_share=True)
)
TAKEN = select(
    exists().where(
        account.c.name.in_(bindparam("names", expanding=True)), account.c.id.not_in(bindparam("except", expanding=True))
    )
)
SANDBOX = (
    select(account.c.id, account.c.name)
    .where(account.c.sandbox_of == bindparam("account"))
    .with_for_update(key_share=True)
)
RENAME = update(account).where(account.c.id == bindparam("account")).values(name=bindparam("new_name"))
REVERSED = ledger.alias("reversed")
TOP_UP = (
    select(ledger.c.subject, ledger.c.amount, REVERSED.c.amount.label("reversed"))
    .outerjoin(REVERSED, and_(REVERSED.c.subject == ledger.c.subject, REVERSED.c.kind == "reversal"))
    .where(
        ledger.c.account_id == bindparam("account"),
        ledger.c.kind == "topup",
        ledger.c.subject.in_(bindparam("subjects", expanding=True)),
    )
)


class Reversal(NamedTuple):
    """A reversal's outcome: the credits available now, and whether the same one had been made before."""

    balance: int
    repeated: bool


def change_account(
    connection: Connection,
    account_id: int,
    changes: dict[str, Any],
    reason: str | None = None,
    *,
    by: Actor | None = None,
) -> dict[str, Any]:
    """Change settings: name, country, low_balance_threshold, weight, retention_days. Returns all of them.

    Country, threshold and retention also apply to the sandbox.
    """
    row = connection.execute(ROW, {"account": account_id}).mappings().one_or_none()
    if row is None:
        raise Refused(f"There is no account {account_id}.", "`bulksms account list` shows them all.")
    if row["sandbox_of"] is not None:
        raise Refused("This is a sandbox. Change the account that it belongs to.")
    before = {name: row[name] for name in ("name", "country", "low_balance_threshold", "weight", "retention_days")}
    after = before | changes
    _check(after)
    if after["name"] != before["name"]:
        _rename(connection, account_id, after["name"])
    connection.execute(_change(account_id, after))
    changed = {name for name, value in after.items() if value != before[name]}
    if changed:
        old, new = ({name: values[name] for name in changed} for values in (before, after))
        record(connection, by, "account.changed", account_id=account_id, before=old, after=new, reason=reason)
    return after


def reverse_top_up(
    connection: Connection, account_id: int, top_up: str, credits: int, reason: str, *, by: Actor | None = None
) -> Reversal:
    """Reverse credits of a top-up, given by its id or key. Once only: repeating the same reversal changes nothing.

    Only available credits can be reversed, not reserved or spent ones.
    """
    row = connection.execute(ROW, {"account": account_id}).one_or_none()
    if row is None:
        raise Refused(f"There is no account {account_id}.", "`bulksms account list` shows them all.")
    subjects = [top_up_id(account_id, top_up), *_as_id(top_up)]
    original = connection.execute(TOP_UP, {"account": account_id, "subjects": subjects}).one_or_none()
    if original is None:
        raise Refused(
            f"The account has no top-up with the key or id {top_up!r}.", "`bulksms account topups ACCOUNT` shows them."
        )
    if original.reversed is not None:
        if original.reversed == credits:
            return Reversal(int(row.available), repeated=True)
        raise Refused(f"{original.reversed:,} credits of this top-up were reversed before; a top-up is reversed once.")
    if not 0 < credits <= original.amount:
        raise Refused(f"1 to {original.amount:,} credits of this top-up can be reversed; {credits:,} were given.")
    if credits > row.available:
        raise Refused(
            f"Only {row.available:,} credits are available; what is reserved or spent cannot be taken back. Reverse at"
            " most that many, or cancel sends first."
        )
    balances = post(connection, [Entry(account_id, "reversal", credits, "topup", original.subject, reason=reason)])
    record(
        connection,
        by,
        "account.top_up_reversed",
        account_id=account_id,
        subject=original.subject,
        before={"available": row.available},
        after={"available": balances[account_id]},
        reason=reason,
    )
    return Reversal(balances[account_id], repeated=False)


def top_up_id(account_id: int, key: str) -> UUID:
    """The id of the account's top-up with this key."""
    return uuid5(TOP_UPS, f"{account_id}:{key}")


def has_top_up(connection: Connection, account_id: int, top_up_id: UUID) -> bool:
    """Whether the account has a top-up with this id."""
    return connection.execute(TOP_UP, {"account": account_id, "subjects": [top_up_id]}).one_or_none() is not None


def _check(values: dict[str, Any]) -> None:
    if values["country"] is not None and not is_country(values["country"]):
        raise Refused(f"{values['country']!r} is not a country with phone numbers. Use two letters, such as KE.")
    if values["weight"] < 1 or values["low_balance_threshold"] < 0:
        raise Refused("The weight of an account is at least 1 and its low balance threshold at least 0.")
    check_retention_days(values["retention_days"])


def _change(account_id: int, values: dict[str, Any]) -> Update:
    """The change of an account and its sandbox; the weight is the account's alone."""
    shared = {name: values[name] for name in ("country", "low_balance_threshold", "retention_days")}
    weight = case((account.c.id == account_id, values["weight"]), else_=account.c.weight)
    return (
        update(account)
        .where(or_(account.c.id == account_id, account.c.sandbox_of == account_id))
        .values(**shared, weight=weight, updated_at=func.clock_timestamp())
    )


def _rename(connection: Connection, account_id: int, name: str) -> None:
    """Rename the account and its sandbox."""
    check_name(name)
    sandbox = connection.execute(SANDBOX, {"account": account_id}).one_or_none()
    names = {account_id: name} | ({} if sandbox is None else {sandbox.id: f"{name}{NAME_SUFFIX}"})
    if connection.execute(TAKEN, {"names": list(names.values()), "except": list(names)}).scalar():
        raise Refused(f"The account {name!r} already exists. Choose another name.")
    for renamed, new in names.items():
        connection.execute(RENAME, {"account": renamed, "new_name": new})


def _as_id(value: str) -> list[UUID]:
    try:
        return [UUID(value)]
    except ValueError:
        return []
