"""Closes an intent: what was sent is captured, what failed is released, what never left is given back.

One durable commit. It is reached in two ways, by the turn that made the intent and by the recovery of a turn that
never came back, and both end here.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.crashpoints import crashpoint
from shared.db.connection import array, transaction, uuids
from shared.ledger.ledger import REMAINDER, Entry, post
from shared.lifecycle import CHARGED, BatchState, MessageStatus, SendState
from shared.outbox import Moved, add_of_messages, add_of_sends
from shared.sends import fair_queueing as fair
from shared.sends.stop_if import stop_failing
from worker.send_counters import Changes, add_and_close, add_to_sends, in_order
from worker.sending.attempts import write_failed
from worker.sending.claimed_batch import Slice, messages_left
from worker.sending.finish import OUT_OF_TURN, can_finish, finish
from worker.sending.record import fence, record_lost, write_rows

MOST_CRASHES = 5
"""A batch whose workers died this often in a row holds its send for an operator."""


@dataclass(slots=True)
class Closing:
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
    """First index that no turn has had, after this one."""
    retry: list[int]
    """Indexes that certainly never left and are to go again."""
    tally: Counter[str] = field(default_factory=Counter)
    """Messages of this intent by the status of their row, before any receipt."""
    attempts: int = 0
    crashes: int = 0
    resent: int = 0
    """Of `retry`, those that may have left before."""
    wait: float = 0.0
    """Seconds before the rest may go on."""

    @property
    def left(self) -> int:
        """Messages of the batch that have no result yet."""
        return messages_left(self.size, self.next_index, self.retry)


LOCK_SENDS = text(
    """
    SELECT id, state, rules ? 'stop_if' AS watched FROM send WHERE id = ANY(CAST(:ids AS uuid[])) ORDER BY id FOR UPDATE
    """
)

CLOSE_INTENT = text(
    f"""
    UPDATE batch b
       SET state = c.state, next_index = c.next_index,
           retry = CAST(string_to_array(nullif(c.retry, ''), ',') AS smallint[]), turn = b.turn + c.cost,
           due_at = clock_timestamp() + make_interval(secs => c.wait), attempts = c.attempts, crashes = c.crashes,
           {OUT_OF_TURN}
      FROM unnest(CAST(:id AS uuid[]), CAST(:state AS batch_state[]), CAST(:next_index AS int[]),
                  CAST(:retry AS text[]), CAST(:cost AS bigint[]), CAST(:wait AS float8[]), CAST(:attempts AS int[]),
                  CAST(:crashes AS int[])) AS c (id, state, next_index, retry, cost, wait, attempts, crashes)
     WHERE b.id = c.id
    """
)

RESENT = text("UPDATE send SET resent = resent + :count WHERE id = :id")

HOLD = text(
    "UPDATE send SET state = 'held', held_by = 'crashes', held_reason = :reason"
    " WHERE id = :id AND state NOT IN ('canceled', 'completed')"
)

NEXT_STATE = {
    SendState.PAUSED: BatchState.PAUSED,
    SendState.HELD: BatchState.HELD,
    SendState.CANCELED: BatchState.CANCELED,
}


def settle(engine: Engine, slices: list[Slice], carrier: str, wait: float, resend_lanes: Collection[int] = ()) -> None:
    """End a turn. Messages without a result go again after `wait` seconds; batches lost meanwhile are left alone.

    Messages without an answer are in doubt; in `resend_lanes` they go again.
    """
    if can_finish(slices):
        slices = finish(engine, slices, carrier)
    if slices:
        _settle(engine, slices, carrier, wait, resend_lanes)


def _settle(engine: Engine, slices: list[Slice], carrier: str, wait: float, resend_lanes: Collection[int]) -> None:
    with transaction(engine) as connection:
        fence(connection, slices)
        held = [piece for piece in slices if not piece.lost]
        resent = [piece.resend_doubts() if piece.lane in resend_lanes else 0 for piece in held]
        counted = write_rows(connection, held, carrier)
        write_failed(connection, slices, carrier)
        closings = [_closing(piece, wait, again) for piece, again in zip(held, resent, strict=True)]
        close_intents(connection, closings, counted)
        crashpoint("settle.before_commit")
    crashpoint("settle.committed")
    for piece in held:
        piece.unrecorded.clear()
    for piece in slices:
        piece.failed.clear()
    record_lost(engine, slices)


def _closing(piece: Slice, wait: float, resent: int) -> Closing:
    unsent, next_index, rest = piece.unsent(), piece.next_index, piece.retry[len(piece.indexes) :]
    if not piece.retry:
        next_index += len(piece.indexes)
        while unsent and unsent[-1] == next_index - 1:  # the turn did not come so far: nothing to remember one by one
            next_index = unsent.pop()
    tries = [*piece.again.values(), *piece.aside.values()]
    at_once = not piece.again and not piece.attempts  # the first failure: another carrier may take it now
    return Closing(
        batch_id=piece.batch_id,
        send_id=piece.send_id,
        account_id=piece.account_id,
        epoch=piece.epoch,
        lane=piece.lane,
        segments=piece.segments,
        price=piece.price,
        size=piece.size,
        next_index=next_index,
        retry=unsent + rest,
        tally=Counter(result.status for result in piece.results if result is not None),
        attempts=piece.attempts + max(tries) if tries else 0,
        resent=resent,
        wait=piece.wait or (wait if tries and not at_once else 0.0),
    )


def close_intents(connection: Connection, closings: list[Closing], counted: Changes) -> None:
    """Settle the batches, their sends and their credits. The batches must be locked by this transaction.

    `counted` is what the sends' counters do not have yet. Locks are taken in the order batch, send, account.
    """
    if not closings:
        return
    ids = in_order({closing.send_id for closing in closings})
    locked = [tuple(row) for row in connection.execute(LOCK_SENDS, {"ids": uuids(ids)}).all()]
    send_states: dict[UUID, str] = {send: state for send, state, _ in locked}
    send_states |= dict.fromkeys(_hold_poisoned(connection, closings), SendState.HELD)
    watched = [send for send, _, is_watched in locked if is_watched]
    if watched:
        add_to_sends(connection, counted)  # which the rule is about
        counted = {}
        send_states |= dict.fromkeys(stop_failing(connection, watched), SendState.HELD)
    states = [_next_state(closing, send_states[closing.send_id]) for closing in closings]
    closed: Counter[UUID] = Counter()
    for closing, state in zip(closings, states, strict=True):
        if state == BatchState.CANCELED:
            counted.setdefault(closing.send_id, Counter())[MessageStatus.CANCELED] += closing.left
        closed[closing.send_id] += state in (BatchState.DONE, BatchState.CANCELED)
    for closing in closings:
        if closing.resent:
            connection.execute(RESENT, {"id": closing.send_id, "count": closing.resent})
    _close_batches(connection, closings, states)
    ended = add_and_close(connection, counted, closed)
    add_of_sends(connection, [(account, send, state) for send, account, state in ended if state == SendState.COMPLETED])
    add_of_messages(connection, lambda _: [_canceled(*pair) for pair in zip(closings, states, strict=True)])
    post(connection, [entry for pair in zip(closings, states, strict=True) for entry in _entries(*pair)])


def _canceled(closing: Closing, state: BatchState) -> Moved:
    """The messages that end with their batch, where it was canceled."""
    left = [*closing.retry, *range(closing.next_index, closing.size + 1)] if state == BatchState.CANCELED else []
    return Moved(closing.account_id, closing.send_id, closing.batch_id, MessageStatus.CANCELED, left)


def _hold_poisoned(connection: Connection, closings: list[Closing]) -> list[UUID]:
    """Hold the sends whose workers keep dying. Returns those that are held now."""
    held = []
    for closing in closings:
        if closing.crashes >= MOST_CRASHES:
            reason = f"The workers that sent batch {closing.batch_id} died {closing.crashes} times in a row."
            if connection.execute(HOLD, {"id": closing.send_id, "reason": reason}).rowcount:
                held.append(closing.send_id)
                add_of_sends(connection, [(closing.account_id, closing.send_id, SendState.HELD)])
    return held


def _next_state(closing: Closing, send_state: str) -> BatchState:
    if not closing.left:
        return BatchState.DONE
    if send_state in NEXT_STATE:
        return NEXT_STATE[SendState(send_state)]
    return BatchState.WAITING if closing.wait else BatchState.QUEUED


def _close_batches(connection: Connection, closings: list[Closing], states: list[BatchState]) -> None:
    connection.execute(
        CLOSE_INTENT,
        {
            "id": uuids(closing.batch_id for closing in closings),
            "state": array(states),
            "next_index": array(closing.next_index for closing in closings),
            "retry": array(f'"{",".join(map(str, closing.retry))}"' for closing in closings),
            "cost": array(fair.cost(closing.tally.total() * closing.segments, closing.lane) for closing in closings),
            "wait": array(
                0.0 if state == BatchState.CANCELED else closing.wait
                for closing, state in zip(closings, states, strict=True)
            ),
            "attempts": array(closing.attempts for closing in closings),
            "crashes": array(closing.crashes for closing in closings),
        },
    )


def _entries(closing: Closing, state: BatchState) -> list[Entry]:
    """What the intent's messages cost, and what is given back. Messages in doubt stay reserved."""
    charged = sum(count for status, count in closing.tally.items() if status in CHARGED)
    given_back = sum(
        count for status, count in closing.tally.items() if status not in CHARGED and status != MessageStatus.IN_DOUBT
    )
    batch, account = closing.batch_id, closing.account_id
    entries = [
        Entry(account, "capture", charged * closing.price, "batch", batch, closing.epoch),
        Entry(account, "release", given_back * closing.price, "batch", batch, closing.epoch),
    ]
    if state == BatchState.CANCELED:
        entries.append(Entry(account, "release", closing.left * closing.price, "batch", batch, REMAINDER))
    return entries
