"""Inbound messages to numbers that belonged to no account, and how an account gets them."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, bindparam, func, select, update

from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Refused
from shared.db.encryption_keys import texts_of
from shared.db.expressions import in_parameter
from shared.db.tables.accounts import sender_id
from shared.db.tables.inbound import inbound
from shared.ids import LAST_ID
from shared.inbound.kinds import Inbound
from shared.inbound.owners import OWNER, SENT_TO, number_sent_to
from shared.inbound.senders import sender_number
from shared.inbound.store import report

MAX_ASSIGNED = 5_000
"""Messages that are assigned at a time: each is an event in one transaction."""

LIST = (
    select(
        *inbound.c["id", "carrier", "phone"],
        inbound.c.sender_id.label("sent_to"),
        inbound.c.message,
        inbound.c.missing.label("missing_segments"),
        inbound.c.received_at,
    )
    .where(inbound.c.account_id.is_(None))
    .order_by(inbound.c.id.desc())
)
NUMBERS = (
    select(
        inbound.c.sender_id.label("sent_to"),
        inbound.c.carrier,
        func.count().label("messages"),
        func.count(inbound.c.phone.distinct()).label("phones"),
        func.max(inbound.c.received_at).label("newest"),
    )
    .where(inbound.c.account_id.is_(None))
    .group_by(inbound.c.sender_id, inbound.c.carrier)
    .order_by(func.count().desc(), inbound.c.sender_id)
)
MAY_BE_WRITTEN = (
    select(inbound.c.sender_id)
    .distinct()
    .where(inbound.c.account_id.is_(None), SENT_TO.endswith(func.lower(func.ltrim(inbound.c.sender_id, "0"))))
)
OLDEST = (
    select(inbound.c.id)
    .where(inbound.c.account_id.is_(None), in_parameter(inbound.c.sender_id, "written"))
    .order_by(inbound.c.id)
    .limit(MAX_ASSIGNED)
    .with_for_update()
)
ASSIGN = (
    update(inbound)
    .where(inbound.c.id.in_(bindparam("ids", expanding=True)), inbound.c.account_id.is_(None))
    .values(account_id=bindparam("owner"), sender_id=bindparam("number"))
    .returning(inbound.c.id, inbound.c.phone, inbound.c.sender_id, inbound.c.message, inbound.c.keyword)
)
RENUMBER = update(inbound).where(inbound.c.id == bindparam("inbound_id")).values(phone=bindparam("number"))
HAS_NUMBER = OWNER.where(sender_id.c.account_id == bindparam("account"))


class Assigned(NamedTuple):
    """The number of messages that were assigned, and whether there are more."""

    messages: int
    more: bool


def list_unassigned(
    connection: Connection,
    *,
    sent_to: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
    texts: bool = True,
) -> list[dict[str, Any]]:
    """Messages of no account, newest first; without `texts`, their texts are None."""
    chosen = LIST.where(inbound.c.id < (before or LAST_ID)).limit(limit)
    if sent_to is not None:
        chosen = chosen.where(func.lower(inbound.c.sender_id) == func.lower(sent_to))
    rows = connection.execute(chosen).mappings().all()
    opened = texts_of(connection)
    return [{**row, "message": opened.open(row["message"], row["id"]) if texts else None} for row in rows]


def list_unassigned_numbers(connection: Connection, limit: int) -> list[dict[str, Any]]:
    """How many messages of no account were sent to each number, the most first."""
    return [dict(row) for row in connection.execute(NUMBERS.limit(limit)).mappings()]


def assign_inbound(
    connection: Connection, sent_to: str, account_id: int, reason: str | None = None, *, by: Actor | None = None
) -> Assigned:
    """Give the account the messages to a number that it has as a sender ID, oldest first, as if they came now.

    They may be stored under its national form. They become events, and STOP and START take effect in their order.
    Raises Refused if the account does not have the number.
    """
    owner = connection.execute(HAS_NUMBER, {"account": account_id, "sent_to": sent_to}).one_or_none()
    if owner is None:
        raise Refused(f"The account does not have {sent_to!r} as an approved sender ID. Approve that first.")
    found = connection.execute(MAY_BE_WRITTEN, {"sent_to": sent_to}).scalars().all()
    written = [each for each in found if number_sent_to(connection, each).lower() == sent_to.lower()]
    ids = list(connection.execute(OLDEST, {"written": written}).scalars())
    values = {"ids": ids, "owner": account_id, "number": sent_to}
    rows = connection.execute(ASSIGN, values).all() if ids else []
    for row in sorted(rows):
        number = sender_number(Inbound(row.phone, row.sender_id, row.message), lambda: owner.country)
        if number != row.phone:
            connection.execute(RENUMBER, {"inbound_id": row.id, "number": number})
        report(connection, account_id, row.id, number, *row[2:])
    if rows:
        after = {"messages": len(rows)}
        record(connection, by, "inbound.assigned", account_id=account_id, subject=sent_to, after=after, reason=reason)
    return Assigned(len(rows), more=len(ids) == MAX_ASSIGNED)
