"""Closes intents: captures and releases credits, and decides what happens to the rest of each batch.

The last step of a cycle that `finish` cannot end, and of a cycle whose worker died, by recovery.
"""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Connection, bindparam, text, update

from shared.db.connection import array, uuids
from shared.db.tables import sends
from shared.ledger.ledger import REMAINDER, Entry, post
from shared.lifecycle import CHARGED, BatchState, MessageStatus, SendState
from shared.outbox import StatusChange, add_of_messages, add_of_sends
from shared.sends import batch_states, send_states
from shared.sends import fair_queueing as fair
from shared.sends.counters import Changes, add_and_close, add_to_sends, in_order
from shared.sends.holding import stop_failing
from worker.sending.claimed_batch import messages_left

MAX_CRASHES = 5
"""A batch whose workers died this often in a row holds its send for an operator."""


@dataclass(slots=True)
class Settlement:
    """The end of one batch's intent."""

    batch_id: UUID
    send_id: UUID
    account_id: int
    epoch: int
    lane: int
    segments: int
    price: int
    size: int
    next_index: int
    """First index that was never claimed."""
    retry: list[int]
    """Indexes that certainly never left, to send again."""
    tally: Counter[str] = field(default_factory=Counter)
    """Number of messages by the status of their row, before any receipt."""
    attempts: int = 0
    crashes: int = 0
    resent: int = 0
    """How many of `retry` may have left before."""
    wait: float = 0.0
    """Seconds before the rest may be claimed."""

    @property
    def left(self) -> int:
        """Messages of the batch without a result."""
        return messages_left(self.size, self.next_index, self.retry)


LOCK_SENDS = text(
    """
    SELECT id, state, rules ? 'stop_if' AS watched FROM send WHERE id = ANY(CAST(:ids AS uuid[])) ORDER BY id FOR UPDATE
    """
)
"""Locks the sends in the order of their ids, after their batches, so that no two settlements deadlock."""

SENDS = sends.send.c
RESENT = update(sends.send).where(SENDS.id == bindparam("send")).values(resent=SENDS.resent + bindparam("count"))

NEXT_STATE = {
    SendState.PAUSED: BatchState.PAUSED,
    SendState.HELD: BatchState.HELD,
    SendState.CANCELED: BatchState.CANCELED,
}


def close_intents(connection: Connection, settlements: list[Settlement], counted: Changes) -> None:
    """Settle the batches, their sends and their credits. The batches must be locked by this transaction.

    `counted` is added to the sends' counters. Locks are taken in the order batch, send, account.
    """
    if not settlements:
        return
    ids = in_order({settlement.send_id for settlement in settlements})
    locked = [tuple(row) for row in connection.execute(LOCK_SENDS, {"ids": uuids(ids)}).all()]
    send_states: dict[UUID, str] = {send: state for send, state, _ in locked}
    send_states |= dict.fromkeys(_hold_poisoned(connection, settlements), SendState.HELD)
    watched = [send for send, _, is_watched in locked if is_watched]
    if watched:
        add_to_sends(connection, counted)  # the rule depends on them
        counted = {}
        send_states |= dict.fromkeys(stop_failing(connection, watched), SendState.HELD)
    states = [_next_state(settlement, send_states[settlement.send_id]) for settlement in settlements]
    closed: Counter[UUID] = Counter()
    for settlement, state in zip(settlements, states, strict=True):
        if state == BatchState.CANCELED:
            counted.setdefault(settlement.send_id, Counter())[MessageStatus.CANCELED] += settlement.left
        closed[settlement.send_id] += state in (BatchState.DONE, BatchState.CANCELED)
    for settlement in settlements:
        if settlement.resent:
            connection.execute(RESENT, {"send": settlement.send_id, "count": settlement.resent})
    _close_batches(connection, settlements, states)
    ended = add_and_close(connection, counted, closed)
    add_of_sends(connection, [(account, send, state) for send, account, state in ended if state == SendState.COMPLETED])
    add_of_messages(connection, lambda _: [_canceled(*pair) for pair in zip(settlements, states, strict=True)])
    post(connection, [entry for pair in zip(settlements, states, strict=True) for entry in _entries(*pair)])


def _canceled(settlement: Settlement, state: BatchState) -> StatusChange:
    """The messages that end with their batch, where it was canceled."""
    left = (
        [*settlement.retry, *range(settlement.next_index, settlement.size + 1)] if state == BatchState.CANCELED else []
    )
    return StatusChange(settlement.account_id, settlement.send_id, settlement.batch_id, MessageStatus.CANCELED, left)


def _hold_poisoned(connection: Connection, settlements: list[Settlement]) -> list[UUID]:
    """Hold the sends whose workers keep dying. Returns those that are held now."""
    held = []
    for settlement in settlements:
        if settlement.crashes >= MAX_CRASHES:
            reason = f"The workers that sent batch {settlement.batch_id} died {settlement.crashes} times in a row."
            if connection.execute(send_states.HOLD_POISONED, {"id": settlement.send_id, "reason": reason}).rowcount:
                held.append(settlement.send_id)
                add_of_sends(connection, [(settlement.account_id, settlement.send_id, SendState.HELD)])
    return held


def _next_state(settlement: Settlement, send_state: str) -> BatchState:
    if not settlement.left:
        return BatchState.DONE
    if send_state in NEXT_STATE:
        return NEXT_STATE[SendState(send_state)]
    return BatchState.WAITING if settlement.wait else BatchState.QUEUED


def _close_batches(connection: Connection, settlements: list[Settlement], states: list[BatchState]) -> None:
    connection.execute(
        batch_states.CLOSE_INTENT,
        {
            "id": uuids(settlement.batch_id for settlement in settlements),
            "state": array(states),
            "next_index": array(settlement.next_index for settlement in settlements),
            "retry": array(f'"{",".join(map(str, settlement.retry))}"' for settlement in settlements),
            "cost": array(
                fair.cost(settlement.tally.total() * settlement.segments, settlement.lane) for settlement in settlements
            ),
            "wait": array(
                0.0 if state == BatchState.CANCELED else settlement.wait
                for settlement, state in zip(settlements, states, strict=True)
            ),
            "attempts": array(settlement.attempts for settlement in settlements),
            "crashes": array(settlement.crashes for settlement in settlements),
        },
    )


def _entries(settlement: Settlement, state: BatchState) -> list[Entry]:
    """The entries that capture and release credits. Credits of messages in doubt stay reserved."""
    charged = sum(count for status, count in settlement.tally.items() if status in CHARGED)
    given_back = sum(
        count
        for status, count in settlement.tally.items()
        if status not in CHARGED and status != MessageStatus.IN_DOUBT
    )
    batch, account = settlement.batch_id, settlement.account_id
    entries = [
        Entry(account, "capture", charged * settlement.price, "batch", batch, settlement.epoch),
        Entry(account, "release", given_back * settlement.price, "batch", batch, settlement.epoch),
    ]
    if state == BatchState.CANCELED:
        entries.append(Entry(account, "release", settlement.left * settlement.price, "batch", batch, REMAINDER))
    return entries
