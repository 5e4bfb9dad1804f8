"""The opt-out list: phones that an account sends nothing to, or nothing of one category or from one sender ID.

It is looked at when a send is accepted, and again when its messages are handed over; who is on it is not charged.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, text

from shared import outbox as events
from shared.accounts.administration import Refused
from shared.outbox import EventType
from shared.sms.phones import invalid_detail, is_phone

PAGE = 100_000
"""Phones of one statement: a second of work at the most."""

SUPPRESS = text(
    """
    INSERT INTO suppression (account_id, phone, category, sender_id, reason)
    SELECT :account, u.phone, :category, :sender_id, :reason
      FROM (SELECT DISTINCT phone FROM unnest(CAST(:phones AS bigint[])) AS p (phone) ORDER BY phone) AS u
    ON CONFLICT (account_id, phone, category, sender_id) DO NOTHING
    """
)
CHANGED = text("INSERT INTO suppression_change (account_id) VALUES (:account)")
CHANGED_SINCE = """
    EXISTS (SELECT FROM suppression_change o
             WHERE o.account_id = {account}
               AND o.xid >= CAST(CAST(pg_snapshot_xmin(CAST({snapshot} AS pg_snapshot)) AS text) AS bigint)
               AND NOT pg_visible_in_snapshot(CAST(CAST(o.xid AS text) AS xid8), CAST({snapshot} AS pg_snapshot)))
"""
"""SQL: whether opt-outs of an account were committed that a snapshot did not see. A number that each writer raises
would be a lock that opt-outs wait for, and one that a sequence gives is not in the order of the commits."""
UNSUPPRESS = text(
    """
    DELETE FROM suppression
     WHERE account_id = :account
       AND phone IN (:phone, (SELECT erased_phone(:account, :phone, erasure_key) FROM installation))
       AND (:everywhere OR (category = :category AND sender_id = :sender_id))
    """
)
LISTED = text(
    """
    SELECT DISTINCT phone FROM suppression
     WHERE account_id = :account AND phone = ANY(:phones)
       AND category IN ('', :category) AND sender_id IN ('', :sender_id)
    UNION ALL
    SELECT p.phone FROM unnest(CAST(:phones AS bigint[])) AS p (phone)
     WHERE EXISTS (SELECT FROM suppression WHERE account_id = :account AND phone < 0)
       AND EXISTS (SELECT FROM suppression e, installation i
                    WHERE e.account_id = :account AND e.phone = erased_phone(:account, p.phone, i.erasure_key)
                      AND e.category IN ('', :category) AND e.sender_id IN ('', :sender_id))
    """
)
"""An erased phone's opt-out stands under a negative number that only its phone leads to; most accounts have none."""


class Scope(NamedTuple):
    """Of what a phone has opted out: of one category, of one sender ID, of both together; empty: of all."""

    category: str = ""
    sender_id: str = ""


EVERYTHING = Scope()


def suppress(connection: Connection, account_id: int, phone: str | int, reason: str, scope: Scope = EVERYTHING) -> bool:
    """Send nothing more of the scope from this account to the phone. False when that was so already."""
    return suppress_all(connection, account_id, [_number(phone)], reason, scope) == 1


def suppress_all(
    connection: Connection, account_id: int, phones: Sequence[int], reason: str, scope: Scope = EVERYTHING
) -> int:
    """Put the phones on the list. Returns how many were not on it. Phones are locked in their order, so that two
    callers never wait for each other."""
    added = 0
    ordered = sorted(set(phones))
    for start in range(0, len(ordered), PAGE):
        values = {"account": account_id, "phones": ordered[start : start + PAGE], "reason": reason}
        added += connection.execute(SUPPRESS, {**values, **scope._asdict()}).rowcount
    if added:
        connection.execute(CHANGED, {"account": account_id})
    return added


def record_change(
    connection: Connection, account_id: int, added: int, phone: str | None, reason: str | None, scope: Scope | None
) -> None:
    """The event of `added` phones that came on the list together. What is not the same for all of them is None."""
    data = {
        "phone": phone,
        "added": added,
        "category": scope and (scope.category or None),
        "sender_id": scope and (scope.sender_id or None),
        "reason": reason,
    }
    events.add(connection, account_id, EventType.SUPPRESSION_CREATED, data)


def unsuppress(connection: Connection, account_id: int, phone: str | int, scope: Scope | None = None) -> int:
    """Let the account send to the phone again: in the scope, or without one in all. Returns the entries removed."""
    values = {"account": account_id, "phone": _number(phone), "everywhere": scope is None}
    return connection.execute(UNSUPPRESS, {**values, **(scope or EVERYTHING)._asdict()}).rowcount


def listed(connection: Connection, account_id: int, phones: Sequence[int], category: str, sender_id: str) -> set[int]:
    """Those of the phones that must not get a message of the category from the sender ID."""
    values = {"account": account_id, "phones": phones, "category": category, "sender_id": sender_id}
    return set(connection.execute(LISTED, values).scalars())


def _number(phone: str | int) -> int:
    if not is_phone(str(phone)):
        raise Refused(f"{phone!r} is not a phone. {invalid_detail(str(phone))}")
    return int(phone)
