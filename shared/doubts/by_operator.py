"""Messages in doubt as operators see them, and their resolution by hand."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Text, cast, func, select

from shared.accounts.audit_log import Actor, record
from shared.db.expressions import in_parameter
from shared.db.tables.messages import doubt, message
from shared.db.tables.sends import batch
from shared.doubts.reconcile import Matched
from shared.doubts.resolution import Resolution, resolve
from shared.ids import FIRST_ID
from shared.lifecycle import MessageStatus

NOT_SENT = "not_sent"
"""Error of a message that, according to the operator, the carrier never received."""
OF_BATCH = batch.c.id == func.batch_of(doubt.c.message_id)
LIST = (
    select(
        doubt.c.message_id,
        batch.c.send_id,
        batch.c.account_id,
        doubt.c.carrier,
        doubt.c.sender_id,
        cast(doubt.c.phone, Text).label("phone"),
        doubt.c.submitted_at,
        doubt.c.expires_at,
    )
    .join(batch, OF_BATCH)
    .order_by(doubt.c.message_id)
)
IN_DOUBT = select(doubt.c.message_id).where(in_parameter(doubt.c.message_id, "ids"))


class Outcome(NamedTuple):
    """The resolution of a message in doubt."""

    status: MessageStatus
    error: str | None
    summary: str


OUTCOMES = {
    "sent": Outcome(MessageStatus.SENT, None, "charged as sent"),
    "delivered": Outcome(MessageStatus.DELIVERED, None, "charged as delivered"),
    "not-sent": Outcome(MessageStatus.FAILED, NOT_SENT, "failed, credits released"),
}


class Resolved(NamedTuple):
    """How many messages were resolved, and those of the given ones that were not in doubt."""

    messages: int
    others: list[UUID]


def list_doubts(
    connection: Connection,
    *,
    send_id: UUID | None = None,
    carrier: str | None = None,
    after: UUID = FIRST_ID,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """Messages in doubt, in the order of their ids, so the first accepted ones first."""
    chosen = LIST.where(doubt.c.message_id > after).limit(limit)
    if send_id is not None:
        chosen = chosen.where(batch.c.send_id == send_id)
    if carrier is not None:
        chosen = chosen.where(doubt.c.carrier == carrier)
    return [dict(row) for row in connection.execute(chosen).mappings()]


def resolve_doubts(
    connection: Connection,
    outcome: str,
    message_ids: list[UUID],
    send_id: UUID | None = None,
    *,
    reason: str | None = None,
    by: Actor | None = None,
) -> Resolved:
    """Resolve messages, and all in doubt of a send, with one of OUTCOMES. Those no longer in doubt are left alone."""
    ids = set(message_ids)
    if send_id is not None:
        of_send = select(doubt.c.message_id).join(batch, OF_BATCH).where(batch.c.send_id == send_id)
        ids |= set(connection.execute(of_send).scalars())
    in_doubt = set(connection.execute(IN_DOUBT, {"ids": list(ids)}).scalars())
    status, error, _ = OUTCOMES[outcome]
    resolutions = [Resolution(each, status, error=error, by="operator") for each in sorted(ids)]
    count = resolve(connection, resolutions) if resolutions else 0
    if count:
        after = {"status": str(status), "messages": count}
        subject = send_id or min(in_doubt or ids)
        record(connection, by, "doubt.resolved", subject=subject, after=after, reason=reason)
    return Resolved(count, sorted(ids - in_doubt))


def status_of(connection: Connection, message_id: UUID) -> str | None:
    """The stored status of a message; None if it has no result yet, or does not exist."""
    return connection.execute(select(message.c.status).where(message.c.id == message_id)).scalar()


def apply_report(connection: Connection, carrier: str, matched: Matched, *, by: Actor | None = None) -> int:
    """Resolve the doubts that a carrier's report has matched. Returns how many were resolved."""
    count = resolve(connection, matched.resolutions) if matched.resolutions else 0
    if count:
        after = {**matched.statuses(), "messages": count}
        record(connection, by, "doubt.resolved", subject=carrier, after=after)
    return count
