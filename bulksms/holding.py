"""Holding a send for the operator, and letting it go on.

A held send submits nothing; its owner can cancel it, but not resume it. Workers hold a send by themselves when it kills
them again and again. What a worker is submitting at that moment ends as it would.
"""

from uuid import UUID

from sqlalchemy import Connection, text

from shared.accounts import Refused
from shared.changes import record

STATE = text("SELECT state FROM send WHERE id = :send")
OWNER = text("SELECT account_id FROM send WHERE id = :send")

HOLD_BATCHES = text("UPDATE batch SET state = 'held' WHERE send_id = :send AND state IN ('waiting', 'queued')")
HOLD_SEND = text(
    """
    UPDATE send SET state = 'held', held_reason = :reason
     WHERE id = :send AND completed_at IS NULL AND state NOT IN ('canceled', 'completed', 'held')
    """
)

RELEASE_BATCHES = text(
    """
    UPDATE batch
       SET state = CASE WHEN due_at > clock_timestamp() THEN CAST('waiting' AS batch_state) ELSE 'queued' END,
           crashes = 0
     WHERE send_id = :send AND state = 'held'
    """
)
RELEASE_SEND = text(
    """
    UPDATE send
       SET held_reason = NULL,
           state = CASE WHEN EXISTS (SELECT FROM batch b WHERE b.send_id = send.id AND b.state = 'paused')
                        THEN CAST('paused' AS send_state)
                        WHEN send_at > clock_timestamp() THEN 'scheduled'
                        WHEN expanded_to IS NOT NULL THEN 'expanding' ELSE 'queued' END
     WHERE id = :send AND state = 'held'
    """
)


def hold(connection: Connection, send: UUID, reason: str) -> None:
    """Stop submitting until the operator releases it. Refused when the send is held or has ended."""
    connection.execute(HOLD_BATCHES, {"send": send})
    if not connection.execute(HOLD_SEND, {"send": send, "reason": reason}).rowcount:
        raise _refused(connection, send, "held")
    _record(connection, "send.held", send, reason)


def release(connection: Connection, send: UUID) -> None:
    """Let a held send go on; paused ones stay paused. Its workers' crashes are forgotten. Refused unless held."""
    connection.execute(RELEASE_BATCHES, {"send": send})
    if not connection.execute(RELEASE_SEND, {"send": send}).rowcount:
        raise _refused(connection, send, "released")
    _record(connection, "send.released", send)


def _record(connection: Connection, what: str, send: UUID, reason: str | None = None) -> None:
    account = connection.execute(OWNER, {"send": send}).scalar_one()
    record(connection, None, what, account_id=account, subject=send, reason=reason)


def _refused(connection: Connection, send: UUID, what: str) -> Refused:
    state = connection.execute(STATE, {"send": send}).scalar()
    if state is None:
        return Refused(f"There is no send {send}. `bulksms send list` shows the newest.")
    return Refused(f"The send is {state} and cannot be {what}.")
