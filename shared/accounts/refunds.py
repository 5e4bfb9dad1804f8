"""Refunds of captured credits: of one message, or of all that was charged for a send.

Each captured credit is refunded at most once. A message is refunded as itself, and a send batch by batch, as far as its
batches were captured and not refunded before. After a refund of its send, a message cannot be refunded any more: it is
part of what was refunded.
"""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, and_, bindparam, func, select

from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Missing, Refused
from shared.db.expressions import last_message_id
from shared.db.tables.accounts import TO_SPEND, account
from shared.db.tables.messages import message
from shared.db.tables.money import ledger
from shared.db.tables.sends import batch, send
from shared.ids import batch_of
from shared.ledger.ledger import Entry, post
from shared.lifecycle import CHARGED_STATUSES

LOCK = select(TO_SPEND).where(account.c.id == bindparam("account")).with_for_update(key_share=True)
"""Serializes the refunds of an account. Nothing else is locked, so it may come first."""
SEND = select(send.c.id).where(send.c.id == bindparam("send"), send.c.account_id == bindparam("account"))
CAPTURES, REFUNDS = ledger.c.kind == "capture", ledger.c.kind == "refund"
CAPTURED = func.coalesce(func.sum(ledger.c.amount).filter(CAPTURES), 0)
REFUNDED = func.coalesce(func.sum(ledger.c.amount).filter(REFUNDS), 0)
REFUNDABLE = (
    select(
        batch.c.id,
        (CAPTURED - REFUNDED).label("captured"),
        func.count().filter(REFUNDS, ledger.c.subject == batch.c.id).label("refunds"),
    )
    .join_from(
        batch,
        ledger,
        and_(
            ledger.c.account_id == batch.c.account_id,
            ledger.c.subject.between(batch.c.id, last_message_id(batch.c.id)),
        ),
    )
    .where(batch.c.send_id == bindparam("send"), batch.c.account_id == bindparam("account"))
    .group_by(batch.c.id)
    .order_by(batch.c.id)
)
"""By batch of a send: the credits that were captured for it or its messages and not refunded, and how often the batch
was refunded."""
MESSAGE = (
    select(message.c.status, message.c.price, batch.c.send_id)
    .select_from(batch.outerjoin(message, message.c.id == bindparam("message")))
    .where(batch.c.id == bindparam("batch"), batch.c.account_id == bindparam("account"))
)
POSTED = select(ledger.c.subject, ledger.c.kind).where(
    and_(ledger.c.subject.in_([bindparam("message"), bindparam("batch")]), ledger.c.kind.in_(["refund", "release"]))
)


class Refund(NamedTuple):
    """The credits that were refunded, and those available now."""

    credits: int
    balance: int


def refund_send(
    connection: Connection, account_id: int, send_id: UUID, reason: str, *, by: Actor | None = None
) -> Refund:
    """Refund what was charged for a send and not refunded before.

    Raises Missing without such a send, and Refused if there is nothing to refund. What is charged later, such as a
    doubt that turns out to be sent, can be refunded by another call.
    """
    available = connection.execute(LOCK, {"account": account_id}).scalar()
    if connection.execute(SEND, {"send": send_id, "account": account_id}).scalar() is None:
        raise Missing(f"The account has no send {send_id}.")
    refundable = connection.execute(REFUNDABLE, {"send": send_id, "account": account_id}).all()
    entries = [
        Entry(account_id, "refund", row.captured, "batch", row.id, step=row.refunds, reason=reason)
        for row in refundable
        if row.captured > 0
    ]
    if not entries:
        raise Refused("Nothing charged for this send is left to refund.")
    return _post(connection, account_id, available, entries, f"send {send_id}", reason, by)


def refund_message(
    connection: Connection, account_id: int, message_id: UUID, reason: str, *, by: Actor | None = None
) -> Refund:
    """Refund a message. Raises Missing without such a message; Refused if it was not charged, or was refunded."""
    available = connection.execute(LOCK, {"account": account_id}).scalar()
    batch_id = batch_of(message_id)
    values = {"message": message_id, "batch": batch_id, "account": account_id}
    row = connection.execute(MESSAGE, values).one_or_none()
    if row is None or message_id == batch_id:
        raise Missing(f"The account has no message {message_id}.")
    posted = {(each.subject, each.kind) for each in connection.execute(POSTED, values)}
    if row.status not in CHARGED_STATUSES or not row.price or (message_id, "release") in posted:
        raise Refused("The message is not charged.")
    if (message_id, "refund") in posted or (batch_id, "refund") in posted:
        raise Refused("The message was refunded before, by itself or with its send.")
    entry = Entry(account_id, "refund", row.price, "message", message_id, reason=reason)
    return _post(connection, account_id, available, [entry], f"message {message_id}", reason, by)


def _post(
    connection: Connection,
    account_id: int,
    available: int | None,
    entries: list[Entry],
    subject: str,
    reason: str,
    by: Actor | None,
) -> Refund:
    balance = post(connection, entries)[account_id]
    record(
        connection,
        by,
        "account.refunded",
        account_id=account_id,
        subject=subject,
        before={"available": available},
        after={"available": balance},
        reason=reason,
    )
    return Refund(sum(entry.amount for entry in entries), balance)
