"""The opt-out list: phones that an account must not send to, at all or in one category or from one sender ID.

Checked when a send is accepted, and again before its messages are submitted. Suppressed messages are not charged. A
phone whose erasure is open is treated alike, but is not on the list: the erasure ends, an opt-out does not.

A subscriber whose number networks write in two ways (`shared.sms.spellings`) is on the list with both.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Text,
    and_,
    bindparam,
    case,
    collate,
    delete,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import Insert, aggregate_order_by, insert

from shared import outbox
from shared.accounts.audit_log import Actor, record
from shared.contacts.phones import as_number
from shared.db.expressions import parameter_rows
from shared.db.tables.accounts import sender_id
from shared.db.tables.contacts import suppression, suppression_change
from shared.db.tables.running import installation
from shared.lifecycle import EventType
from shared.sms.phones import is_phone
from shared.sms.spellings import other_spellings

BY_STOP = "stop"
"""Reason of suppressions that recipients requested by a message to the account."""
BY_CARRIER = "carrier"
"""Reason of suppressions of people who have opted out with a carrier."""
POSSIBLE = "possible_stop"
"""Reason of suppressions that wait for a person to decide whether the recipient has opted out."""


def _strength(reason: ColumnElement[str]) -> ColumnElement[int]:
    """SQL: what removes an entry. 0: a decision or a START; 1: only a START; 2: only the customer."""
    return case((reason == POSSIBLE, 0), (reason.in_([BY_STOP, BY_CARRIER]), 1), else_=2)


ACCOUNT, PHONE = bindparam("account", type_=BigInteger), bindparam("phone", type_=BigInteger)
CATEGORY, SENDER_ID = bindparam("category", type_=Text), bindparam("sender_id", type_=Text)
GIVEN = parameter_rows("given", *suppression.c["phone", "category", "sender_id", "reason"])
KEY = GIVEN.c["phone", "category", "sender_id"]
STRONGEST = aggregate_order_by(GIVEN.c.reason, _strength(GIVEN.c.reason).desc(), collate(GIVEN.c.reason, "C"))
ON_LIST = (
    exists()
    .where(suppression.c.account_id == ACCOUNT, *(suppression.c[name] == value for name, value in KEY.items()))
    .where(_strength(suppression.c.reason) >= _strength(GIVEN.c.reason), literal_column("suppression.xmax = 0"))
)
"""Already as strong, and nobody is removing it: it need not be locked, as a conflict would."""
ADD = insert(suppression).from_select(
    ["account_id", *KEY.keys(), "reason"],
    select(ACCOUNT, *KEY, func.array_agg(STRONGEST, type_=ARRAY(Text))[1])
    .where(not_(ON_LIST))
    .group_by(*KEY)
    .order_by(*KEY),
)
SENDERS = select(sender_id.c.sender_id).where(sender_id.c.account_id == ACCOUNT)


def _or_strengthen(adding: Insert) -> Insert:
    """Where there is an entry already, let it have the new reason if that is stronger."""
    return adding.on_conflict_do_update(
        index_elements=suppression.primary_key.columns,
        set_={"reason": adding.excluded.reason},
        where=_strength(suppression.c.reason) < _strength(adding.excluded.reason),
    )


SUPPRESS = _or_strengthen(ADD).returning(
    *suppression.c["phone", "category", "sender_id"], literal_column("xmax = 0", Boolean).label("new")
)
"""One statement for all opt-outs of a request; names the new ones. Readers of events wait until its transaction has
ended.

Entries are locked in sorted order, so that concurrent callers cannot deadlock."""
CHANGED = insert(suppression_change)
CHANGED_SINCE = """
    EXISTS (SELECT FROM suppression_change o
             WHERE o.account_id = {account}
               AND o.xid >= CAST(CAST(pg_snapshot_xmin(CAST({snapshot} AS pg_snapshot)) AS text) AS bigint)
               AND NOT pg_visible_in_snapshot(CAST(CAST(o.xid AS text) AS xid8), CAST({snapshot} AS pg_snapshot)))
"""
"""SQL: whether opt-outs of an account were committed after a snapshot.

Not a counter in a row, which would serialize opt-outs, and not a sequence, whose values are not in commit order.
"""
HASHED_PHONE = select(func.erased_phone(ACCOUNT, PHONE, installation.c.erasure_key)).scalar_subquery()
OF_PHONE = and_(suppression.c.account_id == ACCOUNT, suppression.c.phone.in_([PHONE, HASHED_PHONE]))
"""SQL: the account's entries about a phone, also if they are kept after its erasure."""
UNSUPPRESS = delete(suppression).where(
    OF_PHONE,
    or_(
        bindparam("everywhere", type_=Boolean),
        and_(suppression.c.category == CATEGORY, func.lower(suppression.c.sender_id) == func.lower(SENDER_ID)),
    ),
)
OF_NUMBER = and_(suppression.c.account_id == ACCOUNT, suppression.c.phone == PHONE)
REMOVED = delete(suppression).where(OF_NUMBER).returning(*suppression.c).cte("removed")
HASH = _or_strengthen(
    insert(suppression).from_select(
        ["account_id", "phone", "category", "sender_id", "reason", "created_at"],
        select(ACCOUNT, HASHED_PHONE, *REMOVED.c["category", "sender_id", "reason", "created_at"]),
    )
)
"""One statement, so that it removes no opt-out that it has not seen."""
LISTED = text(
    """
    SELECT DISTINCT phone FROM suppression
     WHERE account_id = :account AND phone = ANY(:phones)
       AND category IN ('', :category) AND lower(sender_id) IN ('', lower(:sender_id))
    UNION ALL
    SELECT p.phone FROM unnest(CAST(:phones AS bigint[])) AS p (phone)
     WHERE EXISTS (SELECT FROM suppression WHERE account_id = :account AND phone < 0)
       AND EXISTS (SELECT FROM suppression e, installation i
                    WHERE e.account_id = :account AND e.phone = erased_phone(:account, p.phone, i.erasure_key)
                      AND e.category IN ('', :category) AND lower(e.sender_id) IN ('', lower(:sender_id)))
    UNION ALL
    SELECT phone FROM erasure
     WHERE EXISTS (SELECT FROM erasure WHERE account_id = :account AND completed_at IS NULL)
       AND account_id = :account AND phone = ANY(:phones) AND completed_at IS NULL
    """
)
"""The opt-out of an erased phone is stored under a negative number derived from the phone; most accounts have none.
The third part finds the phones whose erasure is open. Sender IDs are the same in capitals and small letters.

One statement, as it runs before every window: the second and third parts are skipped where there are none."""


class Scope(NamedTuple):
    """The scope of an opt-out: a category, a sender ID, or both combined; empty: everything."""

    category: str = ""
    sender_id: str = ""


EVERYTHING = Scope()


class Suppression(NamedTuple):
    """An entry of the list: a phone, the category and the sender ID of its scope, and the reason."""

    phone: int
    category: str
    sender_id: str
    reason: str


def suppress(connection: Connection, account_id: int, phone: str | int, reason: str, scope: Scope = EVERYTHING) -> bool:
    """Add a phone to the list. Returns False if it was there already with this scope."""
    return suppress_all(connection, account_id, [Suppression(as_number(phone), *scope, reason)]) == 1


def suppress_all(connection: Connection, account_id: int, given: Collection[Suppression]) -> int:
    """Add up to 100,000 entries to the list, which takes a few seconds. Returns the number of new ones.

    Of several reasons for the same phone and scope, the strongest is stored, and of these the first in the order of
    characters. An entry that exists keeps its reason unless that is weaker.
    """
    return len({each[:3] for each in _add(connection, account_id, given)})


def suppress_by_carrier(connection: Connection, opted_out: Iterable[tuple[int, str | int]]) -> None:
    """Add phones, each with its account, whose carrier says that the person has opted out, and an event for each new
    one. Call it after messages are locked and before sends are, as everywhere; erased phones are left out.

    Up to four statements for an account, and one for each event.
    """
    of_account: dict[int, set[int]] = {}
    for account_id, phone in opted_out:
        of_account.setdefault(account_id, set()).add(int(phone))
    for account_id, phones in sorted(of_account.items()):
        given = [Suppression(phone, *EVERYTHING, BY_CARRIER) for phone in sorted(phones) if is_phone(str(phone))]
        for added in _add(connection, account_id, given):
            report_suppressed(connection, account_id, 1, str(added.phone), BY_CARRIER, EVERYTHING)


def _add(connection: Connection, account_id: int, given: Collection[Suppression]) -> list[Suppression]:
    """Add entries, and those of the phones' other spellings. Returns which of the given ones are new.

    A sender ID is stored as the account spells it, if it has it, so that an opt-out in other capitals is no second one.
    """
    if any(each.sender_id for each in given):
        spelled = connection.execute(SENDERS, {"account": account_id}).scalars().all()
        own = {name.lower(): name for name in spelled} | {name: name for name in spelled}
        given = [
            each._replace(sender_id=own.get(each.sender_id, own.get(each.sender_id.lower(), each.sender_id)))
            for each in given
        ]
    entries = [*given, *(each._replace(phone=phone) for each in given for phone in _others(each.phone))]
    values = {column: [getattr(each, column) for each in entries] for column in Suppression._fields}
    rows = connection.execute(SUPPRESS, {"account": account_id, **values})
    stored = {tuple(row[:3]) for row in rows if row.new}
    if stored:
        record_list_change(connection, account_id)
    return [each for each in given if each[:3] in stored]


def _others(phone: int) -> list[int]:
    return [int(spelling) for spelling in other_spellings(str(phone))]


def spellings(phone: int) -> list[int]:
    """The phone and its other spellings, in the order in which their entries are locked."""
    return sorted([phone, *_others(phone)])


def record_list_change(connection: Connection, account_id: int) -> None:
    """Let workers read again, before their next window, to whom the account must not send."""
    connection.execute(CHANGED, {"account_id": account_id})


def report_suppressed(
    connection: Connection, account_id: int, added: int, phone: str | None, reason: str | None, scope: Scope | None
) -> None:
    """Add an event for `added` phones suppressed together. Values that differ among them are None."""
    data = {
        "phone": phone,
        "added": added,
        "category": scope and (scope.category or None),
        "sender_id": scope and (scope.sender_id or None),
        "reason": reason,
    }
    outbox.add(connection, account_id, EventType.SUPPRESSION_CREATED, data)


def unsuppress(
    connection: Connection, account_id: int, phone: str | int, scope: Scope | None = None, *, by: Actor | None = None
) -> int:
    """Remove a phone from the list, with the scope or, without one, all scopes.

    The audit log names the phone by its hash. Returns the number of entries removed, not counting those of its other
    spellings.
    """
    number, of = as_number(phone), (scope or EVERYTHING)._asdict()
    values = {"account": account_id, "everywhere": scope is None, **of}
    each = [{**values, "phone": spelling} for spelling in spellings(number)]
    removed = max(connection.execute(UNSUPPRESS, parameters).rowcount for parameters in each)
    if removed:
        hashed = connection.execute(select(HASHED_PHONE), {"account": account_id, "phone": number}).scalar()
        after = {**of, "removed": removed}
        record(connection, by, "suppression.removed", account_id=account_id, subject=hashed, after=after)
    return removed


def listed(connection: Connection, account_id: int, phones: Sequence[int], category: str, sender_id: str) -> set[int]:
    """The phones that must not get a message of the category from the sender ID: opted out, or being erased."""
    values = {"account": account_id, "phones": phones, "category": category, "sender_id": sender_id}
    return set(connection.execute(LISTED, values).scalars())


def hash_opt_outs(connection: Connection, account_id: int, phone: int) -> None:
    """Replace a phone that has been erased by its hash in all its opt-outs, which remain in force."""
    for spelling in spellings(phone):
        connection.execute(HASH, {"account": account_id, "phone": spelling})
