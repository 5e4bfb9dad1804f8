"""Holds sends and releases them.

A held send submits nothing; its owner can cancel it. A cycle that is under way is finished. `held_by` says what holds
the send:

    operator    the operator, the release of the guard, or a text that cannot be decrypted; the operator can release it
    crashes     workers crashed while sending it, or failed to prepare it, again and again; the operator can release it
    sender_id   its sender ID is suspended or rejected; it is released when that is approved again
    canary      its first messages are sent, the rest waits for their receipts; its owner can release it
    stop_if     too many of its messages failed; its owner can release it
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Engine, and_, bindparam, func, not_, select, update

from shared.accounts.administration import Refused
from shared.accounts.audit_log import WORKER, Actor, record, record_each
from shared.db.connection import transaction
from shared.db.expressions import in_constants, in_parameter
from shared.db.tables import sends
from shared.db.tables.accounts import sender_id
from shared.encryption import TextUnreadable
from shared.job_failures import stack_of
from shared.lifecycle import BatchState, SendState
from shared.outbox import add_of_sends
from shared.sends import batch_states, fair_queueing, send_states
from shared.sends.requeue import requeue_send

log = logging.getLogger(__name__)

HeldBy = Literal["operator", "crashes", "sender_id", "canary", "stop_if"]

HELD_FOR_OPERATOR: tuple[HeldBy, ...] = ("operator", "crashes")
"""What only an operator can release. Other sends are released by their owner, by receipts, or with their sender ID."""

FAULT = "The service failed to prepare this send. Its operator can release it."
STOPPED = (BatchState.WAITING, BatchState.HELD, BatchState.PAUSED)

SENDS, BATCHES, SENDERS = sends.send.c, sends.batch.c, sender_id.c
AWAITS_OPERATOR = and_(
    in_constants(SENDS.state, SendState.HELD),
    in_constants(SENDS.held_by, *HELD_FOR_OPERATOR),
    SENDS.completed_at.is_(None),
)
"""SQL: whether a send is held until an operator releases or cancels it."""
STATE = select(SENDS.state).where(SENDS.id == bindparam("send"))
MAY_BE_HELD = select(SENDS.id).where(
    SENDS.id == bindparam("send"),
    SENDS.state.not_in([SendState.CANCELED, SendState.COMPLETED]),
    not_(AWAITS_OPERATOR),
)
"""The send, unless it has ended or the operator has to release it anyway."""
OWNERS = select(SENDS.account_id, SENDS.id).where(in_parameter(SENDS.id, "sends")).order_by(SENDS.id)
OWNER = select(SENDS.account_id).where(SENDS.id == bindparam("send"))
LOCK_SENDER = (
    select(SENDERS.state)
    .where(SENDS.id == bindparam("send"), SENDERS.account_id == SENDS.account_id, SENDERS.sender_id == SENDS.sender_id)
    .with_for_update(read=True, of=sender_id)
)
"""The state of the send's sender ID, which cannot be suspended until the transaction ends."""
END_RULE = (
    update(sends.send)
    .where(SENDS.id == bindparam("send"), SENDS.state == SendState.HELD, SENDS.held_by == bindparam("by"))
    .values(rules=SENDS.rules.op("-")(SENDS.held_by), paced_until=None)
)
LOCK_OF_SEND = (
    select(BATCHES.id)
    .where(BATCHES.send_id == bindparam("send"), in_constants(BATCHES.state, *STOPPED))
    .order_by(BATCHES.id)
    .with_for_update()
)
"""Queued batches stay as they are. Paused ones do too, but decide whether the released send is paused."""
OPEN_OF_SENDER = (
    select(SENDS.id)
    .where(
        SENDS.account_id == bindparam("account"),
        SENDS.sender_id == bindparam("sender"),
        SENDS.completed_at.is_(None),
    )
    .order_by(SENDS.id)
)
HELD_OF_SENDER = OPEN_OF_SENDER.where(SENDS.state == SendState.HELD, SENDS.held_by == "sender_id")
NOT_HELD_OF_SENDER = OPEN_OF_SENDER.where(SENDS.state.not_in([SendState.HELD, SendState.CANCELED, SendState.COMPLETED]))
LOCK_BATCHES = (
    select(BATCHES.id)
    .where(in_parameter(BATCHES.send_id, "sends"), in_constants(BATCHES.state, *batch_states.NOT_TAKEN_STATES))
    .order_by(BATCHES.id)
    .with_for_update()
)
LOCK_SENDS = select(SENDS.id).where(in_parameter(SENDS.id, "sends")).order_by(SENDS.id).with_for_update()
WITH_REASON = select(
    *SENDERS["account_id", "sender_id"],
    func.concat_ws(
        ": ", func.format("The sender ID '%s' is %s", SENDERS.sender_id, SENDERS.state), SENDERS.reason
    ).label("reason"),
)
NEWLY_REFUSED = WITH_REASON.where(
    in_constants(SENDERS.state, "suspended", "rejected"),
    SENDERS.decided_at > func.clock_timestamp() - timedelta(minutes=1),
).with_for_update(read=True, skip_locked=True)
"""Locked, so that none is approved while its sends are held."""
REFUSED_OF_SEND = WITH_REASON.where(
    SENDERS.state != "approved",
    SENDS.id == bindparam("send"),
    SENDERS.account_id == SENDS.account_id,
    SENDERS.sender_id == SENDS.sender_id,
)
"""A pending sender ID was rejected, and has been requested again."""


def lock_sends(connection: Connection, sends: Iterable[UUID]) -> None:
    """Lock sends and those of their batches that no worker has. Batches are locked before sends.

    A cycle that ends at the same time has then ended, or waits for the locks. So the next statement sees every batch
    that such a cycle paused or held, because it had read the state that the send is about to leave.
    """
    ids = {"sends": list(sends)}
    connection.execute(LOCK_BATCHES, ids)
    connection.execute(LOCK_SENDS, ids)


def hold(connection: Connection, send: UUID, reason: str, *, by: Actor | None = None) -> None:
    """Hold a send until the operator releases it. Raises Refused if that holds it already, or it has ended."""
    lock_sends(connection, [send])
    if connection.execute(MAY_BE_HELD, {"send": send}).scalar() is None:
        raise _refused(connection, send, "held")
    hold_for_review(connection, [send], reason, by=by)


def pause_canary(connection: Connection, send: UUID) -> bool:
    """Pause a send that its canary holds; its rule applies again once it is resumed. False if that does not hold it."""
    lock_sends(connection, [send])
    return bool(connection.execute(send_states.PAUSE_CANARY, {"send": send}).rowcount) and _release(connection, send)


def hold_for_review(connection: Connection, sends: Sequence[UUID], reason: str, *, by: Actor | None = None) -> None:
    """Hold sends until the operator releases them, even if they are held for another reason already."""
    lock_sends(connection, sends)
    held = hold_sends(connection, list(sends), "operator", reason)
    before = [send for send in sends if send not in held]
    if before:
        connection.execute(send_states.HOLD_ANEW, {"sends": before, "reason": reason})
    owners = connection.execute(OWNERS, {"sends": list(sends)}).all()
    record_each(connection, by, "send.held", (tuple(row) for row in owners), reason)


def hold_sends(connection: Connection, sends: list[UUID], by: HeldBy, reason: str) -> dict[UUID, int]:
    """Hold sends, unless they are held or have ended. Returns the accounts of those that are held now.

    Several must have been locked by `lock_sends`.
    """
    connection.execute(batch_states.HOLD, {"sends": sends})
    rows = connection.execute(send_states.HOLD, {"sends": sends, "by": by, "reason": reason}).all()
    add_of_sends(connection, [(row.account_id, row.id, SendState.HELD) for row in rows])
    return {row.id: row.account_id for row in rows}


class SendsUnusable(RuntimeError):
    """The messages of stored sends cannot be prepared. They would fail every cycle that claims them.

    `causes` has the error of each.
    """

    def __init__(self, causes: Mapping[UUID, Exception]) -> None:
        super().__init__(f"The messages of {len(causes)} sends cannot be prepared.")
        self.causes = causes


def hold_unusable(engine: Engine, error: TextUnreadable | SendsUnusable) -> None:
    """Hold the sends that made work fail: a stored text was changed, or messages cannot be prepared.

    Work that leaves out held sends can then be done again.
    """
    by: HeldBy
    if isinstance(error, TextUnreadable):
        log.error("the text of the send %s cannot be decrypted: it was changed in the database", error.of)
        sends, by, reason = [UUID(str(error.of))], "operator", "Its text cannot be decrypted."
    else:
        for send, cause in error.causes.items():
            log.error("the messages of the send %s cannot be prepared: %s", send, stack_of(cause))
        sends, by, reason = sorted(error.causes), "crashes", FAULT
    with transaction(engine) as connection:
        lock_sends(connection, sends)
        _hold_and_record(connection, sends, by, reason)


def hold_for_operator(connection: Connection, send: UUID, by: HeldBy, reason: str) -> None:
    """Hold a send that failed, unless it is held or has ended."""
    connection.execute(LOCK_BATCHES, {"sends": [send]})
    _hold_and_record(connection, [send], by, reason)


def release(connection: Connection, send: UUID, reason: str | None = None, *, by: Actor | None = None) -> None:
    """Release a held send, and reset its batches' crashes. Raises Refused if it is not held.

    A send that was paused before stays paused. If its own rule holds it, that ends. Also raises Refused until
    its sender ID is approved, unless that was removed.
    """
    sender = connection.execute(LOCK_SENDER, {"send": send}).scalar()
    if sender not in ("approved", None):
        raise Refused(
            f"The sender ID of the send is {sender}. Approve that first.", "`bulksms sender approve` does so."
        )
    lock_sends(connection, [send])
    for rule in ("canary", "stop_if"):
        connection.execute(END_RULE, {"send": send, "by": rule})
    if not _release(connection, send):
        raise _refused(connection, send, "released")
    _record(connection, by, "send.released", send, reason)


def release_from_rule(connection: Connection, send: UUID, by: Literal["canary", "stop_if"]) -> bool:
    """Release a send that is held by its own rule, and remove the rule. False if the rule does not hold it any more.

    If its sender ID is not approved any more, that holds it from now on.
    """
    connection.execute(LOCK_SENDER, {"send": send})  # before batches and sends, as a suspension does
    connection.execute(LOCK_OF_SEND, {"send": send})
    if not connection.execute(END_RULE, {"send": send, "by": by}).rowcount:
        return False
    released = _release(connection, send)
    for sender in connection.execute(REFUSED_OF_SEND, {"send": send}).all():
        _hold_and_record(connection, [send], "sender_id", sender.reason)
    return released


def hold_sender(connection: Connection, account_id: int, sender: str, reason: str) -> None:
    """Hold the account's open sends from a sender ID."""
    _hold_and_record(connection, _lock_sends_of(connection, account_id, sender, held=False), "sender_id", reason)


def release_sender(connection: Connection, account_id: int, sender: str) -> None:
    """Release the sends that were held because of the sender ID."""
    for send in _lock_sends_of(connection, account_id, sender, held=True):
        _release(connection, send)
        _record(connection, WORKER, "send.released", send)


def hold_failing(connection: Connection, sends: Iterable[UUID]) -> list[UUID]:
    """Hold those of the sends of which too many messages have failed, by their rule `stop_if`. Returns them.

    Failed are messages that the carrier refused or reported as undelivered, among all that it has answered. Checked
    when a cycle is settled, and every second because of receipts. Sends without the rule cost nothing.
    """
    rows = connection.execute(send_states.HOLD_FAILING, {"ids": sorted(sends)}).all()
    add_of_sends(connection, [(row.account_id, row.id, SendState.HELD) for row in rows])
    return [row.id for row in rows]


def hold_newly_refused(connection: Connection) -> None:
    """Hold sends accepted after their sender ID was suspended: the API caches approvals for two seconds."""
    for row in connection.execute(NEWLY_REFUSED).all():
        hold_sender(connection, row.account_id, row.sender_id, row.reason)


def _release(connection: Connection, send: UUID) -> bool:
    """Release a send that this transaction has locked, after its batches. False if it is not held."""
    clock = fair_queueing.clock(connection)
    connection.execute(batch_states.RELEASE, {"send": send})
    released = bool(connection.execute(send_states.RELEASE, {"send": send}).rowcount)
    requeue_send(connection, send, clock)
    return released


def _lock_sends_of(connection: Connection, account_id: int, sender: str, *, held: bool) -> list[UUID]:
    """Lock the sends from a sender ID: held by it, or not held. Returns those that are so when locked."""
    statement, values = HELD_OF_SENDER if held else NOT_HELD_OF_SENDER, {"account": account_id, "sender": sender}
    found = set(connection.execute(statement, values).scalars())
    if not found:
        return []
    lock_sends(connection, found)
    return [send for send in connection.execute(statement, values).scalars() if send in found]


def _hold_and_record(connection: Connection, sends: list[UUID], by: HeldBy, reason: str) -> None:
    """Hold sends, and record in the audit log that a worker did."""
    for send, account in hold_sends(connection, sends, by, reason).items():
        record(connection, WORKER, "send.held", account_id=account, subject=send, reason=reason)


def _record(connection: Connection, by: Actor | None, what: str, send: UUID, reason: str | None = None) -> None:
    account = connection.execute(OWNER, {"send": send}).scalar_one()
    record(connection, by, what, account_id=account, subject=send, reason=reason)


def _refused(connection: Connection, send: UUID, what: str) -> Refused:
    state = connection.execute(STATE, {"send": send}).scalar()
    if state is None:
        return Refused(f"There is no send {send}.", "`bulksms send list` shows the newest.")
    return Refused(f"The send is {state} and cannot be {what}.")
