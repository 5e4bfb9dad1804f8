"""The limits of an account: requests, spending per day and month, destinations, recipients; and its pumping guard.

An account without a row has only the limits of the installation.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import phonenumbers
from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.administration import Refused, lock_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.sandbox import IDS_WITH_SANDBOX, find_sandbox
from shared.db.tables.accounts import account
from shared.db.tables.rules import account_limit, pumping_finding
from shared.ids import LAST_NUMBER
from shared.ledger.spend_limits import NOT_COUNTED, Counted, Period, change_spend_limit, count_ahead, standings

Guarding = Literal["off", "watch", "block"]
"""Reaction to suspected pumping: none, record it, or record and refuse it."""

MAX_DESTINATIONS = 1000
PERIODS: tuple[Period, ...] = ("day", "month")
Ahead = dict[tuple[int, Period], Counted]
RECIPIENTS = ("recipient_authentication", "recipient_transactional", "recipient_marketing")
"""Names of the recipient limits, by lane."""
IN_OWN_TABLE = ("requests_per_second", "destinations", "pumping", *RECIPIENTS)
"""Columns of account_limit; the spend limits are in the account's row, which a send locks."""

OWN, ACCOUNTS = account_limit.c, account.c
ALL = select(
    OWN.account_id,
    OWN.requests_per_second,
    ACCOUNTS.spend_day,
    ACCOUNTS.spend_month,
    OWN.destinations,
    OWN.pumping,
    *OWN[RECIPIENTS],
).join_from(account_limit, account, ACCOUNTS.id == OWN.account_id)
ONE = ALL.where(ACCOUNTS.id == bindparam("account"))
NEW = insert(account_limit)
SET = NEW.on_conflict_do_update(
    index_elements=[OWN.account_id], set_={name: NEW.excluded[name] for name in IN_OWN_TABLE}
)
SET_SPENDING = (
    update(account)
    .where(ACCOUNTS.id == bindparam("account"))
    .values(spend_day=bindparam("day"), spend_month=bindparam("month"))
)


@dataclass(frozen=True, slots=True)
class Limits:
    """An account's limits; None: no limit of its own."""

    requests_per_second: int | None = None
    spend_day: int | None = None
    """Credits that its sends may reserve per UTC day."""
    spend_month: int | None = None
    destinations: tuple[str, ...] | None = None
    """The only prefixes that a phone may have."""
    pumping: Guarding = "off"
    recipient_authentication: int | None = None
    """Messages of the category to one phone per hour; 0: unlimited, None: the installation's limit."""
    recipient_transactional: int | None = None
    recipient_marketing: int | None = None


NONE = Limits()


def all_limits(connection: Connection) -> dict[int, Limits]:
    """The limits of all accounts that have any."""
    return {account: _limits(row) for account, *row in connection.execute(ALL)}


def limits_of(connection: Connection, account_id: int) -> Limits:
    """The limits of one account."""
    row = connection.execute(ONE, {"account": account_id}).one_or_none()
    return NONE if row is None else _limits(row[1:])


def limits_with_spending(connection: Connection, account_id: int) -> dict[str, Any]:
    """The limits of one account, and what it has spent today and this month: null without an account."""
    spent = {f"spent_of_{period}": standing.credits for period, standing in standings(connection, account_id).items()}
    return {**asdict(limits_of(connection, account_id)), "spent_of_day": None, "spent_of_month": None, **spent}


def set_limits(
    connection: Connection, account_id: int, *, reason: str | None = None, by: Actor | None = None, **changes: Any
) -> None:
    """Change the given limits of the account and its sandbox; None removes one.

    The setting of the pumping guard is not copied to the sandbox, where pumping earns nothing.
    """
    before = limits_of(connection, account_id)
    new = [each for each in PERIODS if changes.get(f"spend_{each}") and getattr(before, f"spend_{each}") is None]
    ids = connection.execute(IDS_WITH_SANDBOX, {"account": account_id}).scalars().all() if new else []
    ahead = {(each, period): count_ahead(connection, each, period) for each in ids for period in new}
    lock_account(connection, account_id)
    _change(connection, account_id, changes, ahead, reason, by)
    sandbox = find_sandbox(connection, account_id)
    if sandbox is not None:
        sandbox_changes = {name: value for name, value in changes.items() if name != "pumping"}
        _change(connection, sandbox, sandbox_changes, ahead, reason, by)


def _change(
    connection: Connection, account_id: int, changes: dict[str, Any], ahead: Ahead, reason: str | None, by: Actor | None
) -> None:
    before = limits_of(connection, account_id)
    after = replace(before, **changes)
    for name in ("requests_per_second", "spend_day", "spend_month"):
        value = getattr(after, name)
        if value is not None and not 0 < value < 2**31:
            raise Refused(f"A limit is 1 to 2,147,483,647, or none; {value:,} was given.")
    for name in RECIPIENTS:
        value = getattr(after, name)
        if value is not None and not 0 <= value < 2**31:
            raise Refused(
                f"Messages to a phone number per hour are 1 to 2,147,483,647, 0 or none; {value:,} was given."
            )
    values = _as_dict(after)
    connection.execute(SET, {"account_id": account_id, **{name: values[name] for name in IN_OWN_TABLE}})
    if (before.spend_day, before.spend_month) != (after.spend_day, after.spend_month):
        spending = {"account": account_id, "day": after.spend_day, "month": after.spend_month}
        connection.execute(SET_SPENDING, spending)
        for period in PERIODS:
            old, new = (getattr(each, f"spend_{period}") for each in (before, after))
            change_spend_limit(connection, account_id, period, old, new, ahead.get((account_id, period), NOT_COUNTED))
    changed = [each.name for each in fields(Limits) if getattr(before, each.name) != getattr(after, each.name)]
    if changed:
        record(
            connection,
            by,
            "limits.changed",
            account_id=account_id,
            before={name: getattr(before, name) for name in changed},
            after={name: getattr(after, name) for name in changed},
            reason=reason,
        )


def pumping_findings(
    connection: Connection, *, account_id: int | None = None, before: int = LAST_NUMBER, limit: int = 50
) -> list[dict[str, Any]]:
    """What the pumping guard found, for one account or all, newest first."""
    chosen = (
        select(
            *pumping_finding.c["id", "at", "account_id"],
            account.c.name.label("account"),
            *pumping_finding.c["rule", "prefix", "phones", "most", "refused"],
        )
        .join(account, account.c.id == pumping_finding.c.account_id)
        .where(pumping_finding.c.id < before)
    )
    if account_id is not None:
        chosen = chosen.where(pumping_finding.c.account_id == account_id)
    ordered = chosen.order_by(pumping_finding.c.id.desc()).limit(limit)
    return [dict(row) for row in connection.execute(ordered).mappings()]


def destinations(countries: Iterable[str]) -> tuple[str, ...]:
    """Convert prefixes and countries (ISO 3166-1 alpha-2) to prefixes, without redundant ones.

    Refuses a country that shares its country code: only longer prefixes identify its numbers.
    """
    prefixes = {_prefix(word) for word in countries}
    if not 0 < len(prefixes) <= MAX_DESTINATIONS:
        raise Refused(f"Name 1 to {MAX_DESTINATIONS:,} destinations, or `all`.")
    return tuple(
        sorted(prefix for prefix in prefixes if not any(prefix[:size] in prefixes for size in range(1, len(prefix))))
    )


def _prefix(word: str) -> str:
    if word.isascii() and word.isdigit() and not word.startswith("0") and len(word) < 15:
        return word
    code = phonenumbers.country_code_for_region(word.upper())
    if not code:
        raise Refused(f"{word!r} is neither the first digits of phone numbers, such as 254, nor a country, such as KE.")
    others = sorted(set(phonenumbers.COUNTRY_CODE_TO_REGION_CODE[code]) - {word.upper()})
    if others:
        raise Refused(
            f"{word} shares {code} with {', '.join(others)}. Give {code} for all of them, or longer prefixes."
        )
    return str(code)


def _limits(row: Any) -> Limits:
    requests, day, month, prefixes, pumping, *recipients = row
    return Limits(requests, day, month, None if prefixes is None else tuple(prefixes), pumping, *recipients)


def _as_dict(limits: Limits) -> dict[str, Any]:
    values = {each.name: getattr(limits, each.name) for each in fields(Limits)}
    return {**values, "destinations": None if limits.destinations is None else list(limits.destinations)}
