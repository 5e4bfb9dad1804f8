"""An account's default rules by category: quiet hours, and frequency caps per phone.

The category authentication has none: somebody is waiting for these messages. A change does not affect accepted sends.
"""

from typing import Any

from sqlalchemy import Connection, Row, SmallInteger, Text, bindparam, select
from sqlalchemy.dialects.postgresql import Insert, insert

from shared.accounts.administration import Refused
from shared.accounts.audit_log import Actor, record
from shared.accounts.sandbox import WITH_SANDBOX
from shared.db.tables.accounts import account
from shared.db.tables.rules import category_rule

MAX_HOURS = 744
MAX_CAP = 10_000

RULES = category_rule.c
LIST = select(category_rule).where(RULES.account_id == bindparam("account")).order_by(RULES.category)


def _set_pair(first: str, second: str) -> Insert:
    """Sets two columns of a category's rules, for the account and its sandbox."""
    pair = {first: bindparam("first", type_=SmallInteger), second: bindparam("second", type_=SmallInteger)}
    rows = select(account.c.id, bindparam("category", type_=Text), *pair.values()).where(WITH_SANDBOX)
    return (
        insert(category_rule)
        .from_select(["account_id", "category", *pair], rows)
        .on_conflict_do_update(index_elements=[RULES.account_id, RULES.category], set_=pair)
    )


SET_QUIET, SET_CAP = _set_pair("quiet_from", "quiet_until"), _set_pair("cap_messages", "cap_hours")


def list_rules(connection: Connection, account_id: int) -> list[Row[Any]]:
    """The account's rules, one row per category; times are minutes of the day."""
    return list(connection.execute(LIST, {"account": account_id}))


def set_quiet_hours(
    connection: Connection, account_id: int, category: str, hours: tuple[int, int] | None, *, by: Actor | None = None
) -> None:
    """Set the quiet hours of a category: from and until these minutes of the recipient's day; None removes them."""
    if hours is not None and not (hours[0] != hours[1] and all(0 <= minute < 1440 for minute in hours)):
        raise Refused("Quiet hours must begin and end at different times of the day.")
    _set(connection, account_id, category, "quiet_hours", hours, by)


def set_cap(
    connection: Connection, account_id: int, category: str, cap: tuple[int, int] | None, *, by: Actor | None = None
) -> None:
    """Set the frequency cap of a category: (messages, hours) per phone; None removes it."""
    if cap is not None and not (0 < cap[0] <= MAX_CAP and 0 < cap[1] <= MAX_HOURS):
        raise Refused(f"A cap is 1 to {MAX_CAP:,} messages in 1 to {MAX_HOURS} hours.")
    _set(connection, account_id, category, "cap", cap, by)


def _set(
    connection: Connection, account_id: int, category: str, what: str, pair: tuple[int, int] | None, by: Actor | None
) -> None:
    if category not in ("transactional", "marketing"):
        raise Refused("Rules are for the categories `transactional` and `marketing`.")
    values = {"account": account_id, "category": category, "first": pair and pair[0], "second": pair and pair[1]}
    connection.execute(SET_QUIET if what == "quiet_hours" else SET_CAP, values)
    record(connection, by, "rules.changed", account_id=account_id, subject=category, after={what: pair})
