"""Changes of an account's settings.

As in shared/accounts/administration.py, everything works in the connection's transaction, is recorded in the audit log,
and raises Refused.
"""

from typing import Any

from sqlalchemy import Connection, Update, bindparam, case, exists, func, or_, select, update

from shared.accounts.administration import check_name
from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Refused, no_account
from shared.accounts.sandbox import NAME_SUFFIX
from shared.accounts.verification_settings import check_settings
from shared.db.tables.accounts import account
from shared.ledger.ledger import report_low_balances
from shared.settings import MAX_RETENTION_DAYS
from shared.sms.numbering import is_country

MAX_WEIGHT = 1_000
MAX_THRESHOLD = 10**12
SETTINGS = (
    *("name", "country", "low_balance_threshold", "weight", "retention_days"),
    *("credit_limit", "spend_threshold", "verification"),
)
SHARED = ("country", "low_balance_threshold", "retention_days", "verification")
"""Settings that also apply to the sandbox."""
ROW = (
    select(*account.c[SETTINGS], account.c.sandbox_of)
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


def change_account(
    connection: Connection,
    account_id: int,
    changes: dict[str, Any],
    reason: str | None = None,
    *,
    by: Actor | None = None,
) -> dict[str, Any]:
    """Change some of the SETTINGS. Returns all of them.

    Those that are SHARED also apply to the sandbox. A credit limit may be lowered below what the account owes: then it
    spends nothing more until it owes less.
    """
    row = connection.execute(ROW, {"account": account_id}).mappings().one_or_none()
    if row is None:
        raise no_account(account_id)
    if row["sandbox_of"] is not None:
        raise Refused("This is a sandbox. Change the account that it belongs to.")
    before = {name: row[name] for name in SETTINGS}
    after = before | changes
    _check(after)
    if after["name"] != before["name"]:
        _rename(connection, account_id, after["name"])
    changed_ids = connection.execute(_change(account_id, after)).scalars().all()
    raised = after["low_balance_threshold"] - before["low_balance_threshold"]
    falls = dict.fromkeys(changed_ids, raised)
    falls[account_id] += before["credit_limit"] - after["credit_limit"]
    report_low_balances(connection, {changed_id: fall for changed_id, fall in falls.items() if fall > 0})
    changed = {name for name, value in after.items() if value != before[name]}
    if changed:
        old, new = ({name: values[name] for name in changed} for values in (before, after))
        record(connection, by, "account.changed", account_id=account_id, before=old, after=new, reason=reason)
    return after


def _check(values: dict[str, Any]) -> None:
    if values["country"] is not None and not is_country(values["country"]):
        raise Refused(f"{values['country']!r} is not a country with phone numbers. Use two letters, such as KE.")
    if values["weight"] < 1 or values["low_balance_threshold"] < 0:
        raise Refused("The weight of an account is at least 1 and its low balance threshold at least 0.")
    limit, spent = values["credit_limit"], values["spend_threshold"]
    if not 0 <= limit <= MAX_THRESHOLD or not (spent is None or 1 <= spent <= MAX_THRESHOLD):
        raise Refused(f"A credit limit is 0 to {MAX_THRESHOLD:,} credits, and a spend threshold 1 to as many.")
    check_settings({} if values["verification"] is None else values["verification"])
    days = values["retention_days"]
    if days is not None and not 1 <= days <= MAX_RETENTION_DAYS:
        raise Refused(f"Texts and phone numbers are kept for 1 to {MAX_RETENTION_DAYS:,} days; {days:,} were given.")


def _change(account_id: int, values: dict[str, Any]) -> Update:
    """The change of an account and its sandbox; weight, credit limit and spend threshold are the account's alone.

    A changed spend threshold is reported again.
    """
    shared = {name: values[name] for name in SHARED}
    own = {
        name: case((account.c.id == account_id, values[name]), else_=account.c[name])
        for name in ("weight", "credit_limit", "spend_threshold")
    }
    same = account.c.spend_threshold.is_not_distinct_from(own["spend_threshold"])
    told = case((same, account.c.spend_told))
    return (
        update(account)
        .where(or_(account.c.id == account_id, account.c.sandbox_of == account_id))
        .values(**shared, **own, spend_told=told, updated_at=func.clock_timestamp())
        .returning(account.c.id)
    )


def _rename(connection: Connection, account_id: int, name: str) -> None:
    """Rename the account and its sandbox."""
    check_name(name)
    sandbox = connection.execute(SANDBOX, {"account": account_id}).one_or_none()
    names = {account_id: name} | ({} if sandbox is None else {sandbox.id: f"{name}{NAME_SUFFIX}"})
    if connection.execute(TAKEN, {"names": list(names.values()), "except": list(names)}).scalar():
        raise Refused(f"The account {name!r} already exists. Choose another name.", code="name_taken")
    for renamed, new in names.items():
        connection.execute(RENAME, {"account": renamed, "new_name": new})
