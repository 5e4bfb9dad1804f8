"""Holds sends and releases them.

A held send submits nothing; its owner can cancel it. A cycle that is under way is finished. `held_by` says what holds
the send:

    operator    the operator, who can release it
    crashes     workers crashed while sending it, or failed to prepare it, again and again; the operator can release it
    sender_id   its sender ID is suspended or rejected; it is released when that is approved again
    canary      its first messages are sent, the rest waits for their receipts; its owner can release it
    stop_if     too many of its messages failed; its owner can release it
"""

import logging
from collections.abc import Callable
from typing import Literal, TypeVar
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.accounts.administration import Refused
from shared.accounts.audit_log import WORKER, By, record
from shared.db.connection import transaction
from shared.encryption import TextUnreadable
from shared.job_failures import stack_of
from shared.lifecycle import SendState
from shared.outbox import add_of_sends
from shared.sends import batch_states, send_states

log = logging.getLogger(__name__)

T = TypeVar("T")

HeldBy = Literal["operator", "crashes", "sender_id", "canary", "stop_if"]

FAULT = "The service failed to prepare this send. Its operator can release it."

STATE = text("SELECT state FROM send WHERE id = :send")
OWNER = text("SELECT account_id FROM send WHERE id = :send")
SENDER_STATE = text(
    """
    SELECT i.state FROM send s JOIN sender_id i ON i.account_id = s.account_id AND i.sender_id = s.sender_id
     WHERE s.id = :send
    """
)


END_RULE = text(
    """
    UPDATE send SET rules = rules - held_by, paced_until = NULL
     WHERE id = :send AND state = 'held' AND held_by = :by
    """
)
LOCK_OF_SEND = text(
    """
    SELECT FROM batch WHERE send_id = :send AND state IN ('waiting', 'held', 'paused') ORDER BY id FOR UPDATE
    """
)

SENDS_OF_SENDER = text(
    """
    SELECT id FROM send
     WHERE account_id = :account AND sender_id = :sender AND completed_at IS NULL
       AND CASE WHEN :held THEN state = 'held' AND held_by = 'sender_id'
                ELSE state NOT IN ('held', 'canceled', 'completed') END
     ORDER BY id
    """
)
LOCK_BATCHES = text(
    """
    SELECT FROM batch WHERE send_id = ANY(:sends) AND state IN ('waiting', 'queued', 'held') ORDER BY id FOR UPDATE
    """
)
LOCK_SENDS = text("SELECT FROM send WHERE id = ANY(:sends) ORDER BY id FOR UPDATE")
NEWLY_REFUSED = text(
    """
    SELECT account_id, sender_id, format('The sender ID ''%s'' is %s: %s', sender_id, state, reason) AS reason
      FROM sender_id
     WHERE state IN ('suspended', 'rejected') AND decided_at > clock_timestamp() - interval '1 minute'
    """
)


def hold(connection: Connection, send: UUID, reason: str, *, by: By | None = None) -> None:
    """Hold a send until the operator releases it. Raises Refused if it is held or has ended."""
    if not stop_submitting(connection, send, "operator", reason):
        raise _refused(connection, send, "held")
    _record(connection, by, "send.held", send, reason)


def hold_for_review(connection: Connection, send: UUID, reason: str, *, by: By | None = None) -> None:
    """Hold a send until the operator releases it, also if it is held for another reason already."""
    if not stop_submitting(connection, send, "operator", reason):
        connection.execute(send_states.HOLD_ANEW, {"send": send, "reason": reason})
    _record(connection, by, "send.held", send, reason)


def stop_submitting(connection: Connection, send: UUID, by: HeldBy, reason: str) -> bool:
    """Hold a send. False if it is held or has ended."""
    connection.execute(batch_states.HOLD, {"send": send})
    account = connection.execute(send_states.HOLD, {"send": send, "by": by, "reason": reason}).scalar()
    if account is not None:
        add_of_sends(connection, [(account, send, SendState.HELD)])
    return account is not None


class SendUnusable(RuntimeError):
    """The messages of a stored send cannot be prepared. It would fail every cycle that claims it."""

    def __init__(self, send: UUID) -> None:
        super().__init__(f"The messages of the send {send} cannot be prepared.")
        self.send = send


def holding_unusable(engine: Engine, work: Callable[[], T]) -> T:
    """Call `work` and return its result. If it fails at an unusable send, hold that and call `work` again.

    `work` raises SendUnusable, or TextUnreadable if the stored text was changed. It must leave out held sends.
    """
    while True:
        try:
            return work()
        except TextUnreadable as unreadable:
            log.error("the text of the send %s cannot be decrypted: it was changed in the database", unreadable.of)
            _hold_unusable(engine, UUID(str(unreadable.of)), "operator", "Its text cannot be decrypted.")
        except SendUnusable as unusable:
            cause = unusable.__cause__ if isinstance(unusable.__cause__, Exception) else unusable
            log.error("the messages of the send %s cannot be prepared: %s", unusable.send, stack_of(cause))
            _hold_unusable(engine, unusable.send, "crashes", FAULT)


def _hold_unusable(engine: Engine, send: UUID, by: HeldBy, reason: str) -> None:
    with transaction(engine) as connection:
        hold_for_operator(connection, send, by, reason)


def hold_for_operator(connection: Connection, send: UUID, by: HeldBy, reason: str) -> None:
    """Hold a send that failed, unless it is held or has ended."""
    connection.execute(LOCK_BATCHES, {"sends": [send]})
    if stop_submitting(connection, send, by, reason):
        _record(connection, WORKER, "send.held", send, reason)


def release(connection: Connection, send: UUID, *, by: By | None = None) -> None:
    """Release a held send, and reset its batches' crashes. Raises Refused if it is not held.

    A send that was paused before stays paused. Also raises Refused while its sender ID is suspended or rejected.
    """
    sender = connection.execute(SENDER_STATE, {"send": send}).scalar()
    if sender in ("suspended", "rejected"):
        raise Refused(
            f"The sender ID of the send is {sender}. Approve that first.", "`bulksms sender approve` does so."
        )
    if not _release(connection, send):
        raise _refused(connection, send, "released")
    _record(connection, by, "send.released", send)


def release_from_rule(connection: Connection, send: UUID, by: Literal["canary", "stop_if"]) -> bool:
    """Release a send that is held by its own rule, and remove the rule. False if the rule does not hold it any more."""
    connection.execute(LOCK_OF_SEND, {"send": send})
    if not connection.execute(END_RULE, {"send": send, "by": by}).rowcount:
        return False
    return _release(connection, send)


def hold_sender(connection: Connection, account_id: int, sender: str, reason: str) -> None:
    """Hold the account's open sends from a sender ID."""
    for send in _lock_sends(connection, account_id, sender, held=False):
        if stop_submitting(connection, send, "sender_id", reason):
            _record(connection, WORKER, "send.held", send, reason)


def release_sender(connection: Connection, account_id: int, sender: str) -> None:
    """Release the sends that were held because of the sender ID."""
    for send in _lock_sends(connection, account_id, sender, held=True):
        _release(connection, send)
        _record(connection, WORKER, "send.released", send)


def hold_newly_refused(connection: Connection) -> None:
    """Hold sends accepted after their sender ID was suspended: the API caches approvals for two seconds."""
    for row in connection.execute(NEWLY_REFUSED).all():
        hold_sender(connection, row.account_id, row.sender_id, row.reason)


def _release(connection: Connection, send: UUID) -> bool:
    connection.execute(batch_states.RELEASE, {"send": send})
    return bool(connection.execute(send_states.RELEASE, {"send": send}).rowcount)


def _lock_sends(connection: Connection, account_id: int, sender: str, *, held: bool) -> list[UUID]:
    """Lock the sends from a sender ID: those held by it, or those not held. Batches are locked before sends."""
    values = {"account": account_id, "sender": sender, "held": held}
    sends = list(connection.execute(SENDS_OF_SENDER, values).scalars())
    if sends:
        connection.execute(LOCK_BATCHES, {"sends": sends})
        connection.execute(LOCK_SENDS, {"sends": sends})
    return sends


def _record(connection: Connection, by: By | None, what: str, send: UUID, reason: str | None = None) -> None:
    account = connection.execute(OWNER, {"send": send}).scalar_one()
    record(connection, by, what, account_id=account, subject=send, reason=reason)


def _refused(connection: Connection, send: UUID, what: str) -> Refused:
    state = connection.execute(STATE, {"send": send}).scalar()
    if state is None:
        return Refused(f"There is no send {send}.", "`bulksms send list` shows the newest.")
    return Refused(f"The send is {state} and cannot be {what}.")
