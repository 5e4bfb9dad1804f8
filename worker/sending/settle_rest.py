"""The end of a cycle that leaves something to decide: messages in doubt, to be sent again, or of a send that may stop;
or of which an account listens to events.

One transaction writes the last results, captures and releases credits, and returns the rest to the queue. A cycle that
leaves nothing to decide is settled by `settle_complete.py`. `close_intents`, the last step, also ends the cycles of
workers that died (worker/recovery/recover.py).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, Engine, bindparam, text, update

from shared.crashpoints import crashpoint
from shared.db.connection import array, transaction, uuids
from shared.db.tables import sends
from shared.ledger.ledger import REMAINDER, Entry, post
from shared.lifecycle import CHARGED_STATUSES, BatchState, MessageStatus, SendState
from shared.outbox import StatusChange, add_of_messages, add_of_sends
from shared.sends import batch_states, send_states
from shared.sends import fair_queueing as fair
from shared.sends.counters import Changes, add_and_close, add_to_sends, in_order
from shared.sends.holding import hold_failing
from shared.sends.rest_of_batch import PAUSES, Rest, rest_of, split_postponed
from shared.sends.sendable import MAY_CONTINUE
from worker.sending.claimed_batch import ClaimedBatch, messages_left
from worker.sending.results import fence, record_lost, write_failed_attempts, write_rows

SETTLE_SECONDS = 60.0
"""For how long a cycle tries to settle while the database is unavailable."""
MAX_CRASHES = 5
"""A batch whose workers died this often in a row holds its send for an operator."""


@dataclass(slots=True)
class Settlement:
    """The end of one batch's intent."""

    batch: ClaimedBatch
    rest: Rest
    """What is left of the batch."""
    tally: Counter[str]
    """Number of messages by the status of their row, before any receipt."""
    retry_delay: float
    """Seconds before the rest may be claimed."""
    crashes: int = 0

    @property
    def left(self) -> int:
        """Messages of the batch without a result."""
        return messages_left(self.batch.size, self.rest.next_index, self.rest.retry_indexes)


LOCK_SENDS = text(
    f"""
    SELECT s.id, s.state, s.rules ? 'stop_if' AS has_stop_if,
           {MAY_CONTINUE} AND NOT coalesce(s.rules ? 'stop_if', false) AS continues
      FROM send s WHERE s.id = ANY(CAST(:ids AS uuid[])) ORDER BY s.id FOR UPDATE OF s
    """
)
"""Locks the sends in the order of their ids, after their batches, so that no two settlements deadlock. It is not known
yet whether one with `stop_if` continues: the results that are about to be written may hold it."""

SENDS = sends.send.c
RESENT = update(sends.send).where(SENDS.id == bindparam("send")).values(resent=SENDS.resent + bindparam("count"))

NEXT_STATE = {
    SendState.PAUSED: BatchState.PAUSED,
    SendState.HELD: BatchState.HELD,
    SendState.CANCELED: BatchState.CANCELED,
}


def settle_rest(
    engine: Engine,
    batches: list[ClaimedBatch],
    carrier: str,
    wait: float,
    resend_lanes: Collection[int] = (),
    pauses: Sequence[float] = PAUSES,
) -> None:
    """End a cycle. Throttled messages are sent again after `wait` seconds; lost batches are left alone.

    Messages without an answer are in doubt; in `resend_lanes` they are sent again, if their send continues, unless some
    of their parts were accepted and others refused.
    """
    with _doubts_restored(batches, resend_lanes), transaction(engine) as connection:
        fence(connection, batches)
        owned = [batch for batch in batches if not batch.lost]
        _resend_doubts(connection, owned, resend_lanes)
        counted = write_rows(connection, owned, carrier)
        write_failed_attempts(connection, batches, carrier)
        settlements = [settlement_of(batch, wait, pauses) for batch in owned]
        close_intents(connection, settlements, counted)
        crashpoint("settle_rest.before_commit")
    crashpoint("settle_rest.committed")
    for batch in owned:
        batch.unrecorded.clear()
    for batch in batches:
        batch.failed.clear()
    record_lost(engine, batches)


@contextmanager
def _doubts_restored(batches: Iterable[ClaimedBatch], lanes: Collection[int]) -> Iterator[None]:
    """Undo `resend_doubts` if the settlement fails: by the next attempt, the send may have been stopped."""
    resendable = [batch for batch in batches if batch.lane in lanes]
    doubts = [(batch, position, batch.result(position)) for batch in resendable for position in batch.unanswered()]
    try:
        yield
    except BaseException:
        for batch, position, result in doubts:
            if batch.results[position] is None:
                batch.postponed.remove(position)
                batch.resent -= 1
                batch.put(position, result)
        raise


def _resend_doubts(connection: Connection, batches: list[ClaimedBatch], resend_lanes: Collection[int]) -> None:
    """Let messages in doubt be sent again where `lock_continuing_sends` allows it. All others are put in doubt.

    The sends of all batches are locked, as `close_intents` locks them too: a part of them would break the order.
    """
    doubtful = [batch for batch in batches if batch.lane in resend_lanes and batch.unanswered()]
    if doubtful:
        continuing = lock_continuing_sends(connection, (batch.send_id for batch in batches))
        for batch in doubtful:
            if batch.send_id in continuing:
                batch.resend_doubts()


def lock_continuing_sends(connection: Connection, sends: Iterable[UUID]) -> set[UUID]:
    """Lock the sends, and return those that certainly continue. Their batches must be locked already.

    Only their messages may be sent again while in doubt: a message without a row whose send ends is counted as unsent.
    """
    ids = in_order(set(sends))
    return {row.id for row in connection.execute(LOCK_SENDS, {"ids": uuids(ids)}) if row.continues} if ids else set()


def settlement_of(batch: ClaimedBatch, wait: float, pauses: Sequence[float] = PAUSES) -> Settlement:
    """How the batch's intent ends: with the results of the cycle, and with what is left to be sent.

    That waits for `wait` seconds if the carrier throttled, and by `pauses` if a round is over.
    """
    unsent, next_index = batch.unsent(), batch.next_index
    unclaimed, postponed = split_postponed(batch.retry_indexes[len(batch.indexes) :], batch.postponed_before)
    if not batch.retry_indexes:
        next_index += len(batch.indexes)
        while unsent and unsent[-1] == next_index - 1:  # never reached: no need to list it in `retry_indexes`
            next_index = unsent.pop()
    postponed += [batch.indexes[position] for position in batch.postponed]
    rest = rest_of(batch.size, next_index, unsent + unclaimed, postponed, batch.attempts, pauses)
    return Settlement(
        batch=batch,
        rest=rest,
        tally=Counter(result.status for result in batch.results if result is not None),
        retry_delay=batch.quiet_seconds or (wait if batch.again else rest.pause),
    )


def close_intents(connection: Connection, settlements: list[Settlement], counted: Changes) -> None:
    """Settle the batches, their sends and their credits. The batches must be locked by this transaction.

    `counted` is added to the sends' counters. Locks are taken in the order batch, send, account.
    """
    if not settlements:
        return
    ids = in_order({settlement.batch.send_id for settlement in settlements})
    locked = connection.execute(LOCK_SENDS, {"ids": uuids(ids)}).all()
    send_states: dict[UUID, str] = {row.id: row.state for row in locked}
    send_states |= dict.fromkeys(_hold_poisoned(connection, settlements), SendState.HELD)
    with_stop_if = [row.id for row in locked if row.has_stop_if]
    if with_stop_if:
        add_to_sends(connection, counted)  # the rule depends on them
        counted = {}
        send_states |= dict.fromkeys(hold_failing(connection, with_stop_if), SendState.HELD)
    states = [_next_state(settlement, send_states[settlement.batch.send_id]) for settlement in settlements]
    closed: Counter[UUID] = Counter()
    for settlement, state in zip(settlements, states, strict=True):
        if state == BatchState.CANCELED:
            counted.setdefault(settlement.batch.send_id, Counter())[MessageStatus.CANCELED] += settlement.left
        closed[settlement.batch.send_id] += state in (BatchState.DONE, BatchState.CANCELED)
    for settlement in settlements:
        if settlement.batch.resent:
            connection.execute(RESENT, {"send": settlement.batch.send_id, "count": settlement.batch.resent})
    _close_batches(connection, settlements, states)
    ended = add_and_close(connection, counted, closed)
    add_of_sends(connection, [(account, send, state) for send, account, state in ended if state == SendState.COMPLETED])
    add_of_messages(connection, lambda _: [_canceled(*pair) for pair in zip(settlements, states, strict=True)])
    post(connection, [entry for pair in zip(settlements, states, strict=True) for entry in _entries(*pair)])


def _canceled(settlement: Settlement, state: BatchState) -> StatusChange:
    """The messages that end with their batch, where it was canceled."""
    batch, rest = settlement.batch, settlement.rest
    unsent = [*rest.retry_indexes, *range(rest.next_index, batch.size + 1)]
    left = unsent if state == BatchState.CANCELED else []
    return StatusChange(batch.account_id, batch.send_id, batch.batch_id, MessageStatus.CANCELED, left)


def _hold_poisoned(connection: Connection, settlements: list[Settlement]) -> list[UUID]:
    """Hold the sends whose workers keep dying. Returns those that are held now."""
    held = []
    for settlement in settlements:
        if settlement.crashes >= MAX_CRASHES:
            batch = settlement.batch
            reason = f"The workers that sent batch {batch.batch_id} died {settlement.crashes} times in a row."
            if connection.execute(send_states.HOLD_POISONED, {"id": batch.send_id, "reason": reason}).rowcount:
                held.append(batch.send_id)
                add_of_sends(connection, [(batch.account_id, batch.send_id, SendState.HELD)])
    return held


def _next_state(settlement: Settlement, send_state: str) -> BatchState:
    if not settlement.left:
        return BatchState.DONE
    if send_state in NEXT_STATE:
        return NEXT_STATE[SendState(send_state)]
    return BatchState.WAITING if settlement.retry_delay else BatchState.QUEUED


def _close_batches(connection: Connection, settlements: list[Settlement], states: list[BatchState]) -> None:
    rests = [settlement.rest for settlement in settlements]
    connection.execute(
        batch_states.CLOSE_INTENT,
        {
            "id": uuids(settlement.batch.batch_id for settlement in settlements),
            "state": array(states),
            "next_index": array(rest.next_index for rest in rests),
            "retry_indexes": array(f'"{",".join(map(str, rest.retry_indexes))}"' for rest in rests),
            "postponed": array(rest.postponed for rest in rests),
            "cost": array(map(_virtual_time, settlements)),
            "wait": array(
                0.0 if state == BatchState.CANCELED else settlement.retry_delay
                for settlement, state in zip(settlements, states, strict=True)
            ),
            "attempts": array(rest.attempts for rest in rests),
            "crashes": array(settlement.crashes for settlement in settlements),
        },
    )


def _virtual_time(settlement: Settlement) -> int:
    """What the cycle took in fair order; 0 if none of its messages has a result."""
    messages = settlement.tally.total()
    return fair.virtual_time(messages * settlement.batch.segments, settlement.batch.lane) if messages else 0


def _entries(settlement: Settlement, state: BatchState) -> list[Entry]:
    """The entries that capture and release credits. Credits of messages in doubt stay reserved."""
    batch, tally = settlement.batch, settlement.tally
    charged = sum(count for status, count in tally.items() if status in CHARGED_STATUSES)
    given_back = tally.total() - charged - tally[MessageStatus.IN_DOUBT]
    of_batch = (batch.batch_id, batch.epoch)
    entries = [
        Entry(batch.account_id, "capture", charged * batch.price, "batch", *of_batch),
        Entry(batch.account_id, "release", given_back * batch.price, "batch", *of_batch),
    ]
    if state == BatchState.CANCELED:
        left = settlement.left * batch.price
        entries.append(Entry(batch.account_id, "release", left, "batch", batch.batch_id, REMAINDER))
    return entries
