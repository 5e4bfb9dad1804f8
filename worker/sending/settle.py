"""The end of a cycle that leaves something to decide: messages in doubt, to be sent again, or of a send that may stop.

One transaction writes the last results, captures and releases credits, and returns the rest to the queue. Its last step
also ends the cycles of workers that died: `close_intents`. A cycle that leaves nothing to decide ends in
worker/sending/finish.py.
"""

from collections import Counter
from collections.abc import Collection

from sqlalchemy import Engine

from shared.crashpoints import crashpoint
from shared.db.connection import transaction
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.close_intents import Settlement, close_intents
from worker.sending.results import fence, record_lost, write_failed_attempts, write_rows


def settle(
    engine: Engine, batches: list[ClaimedBatch], carrier: str, wait: float, resend_lanes: Collection[int] = ()
) -> None:
    """End a cycle. Messages without a result are sent again after `wait` seconds; lost batches are left alone.

    Messages without an answer are in doubt; in `resend_lanes` they are sent again.
    """
    with transaction(engine) as connection:
        fence(connection, batches)
        owned = [batch for batch in batches if not batch.lost]
        resent = [batch.resend_doubts() if batch.lane in resend_lanes else 0 for batch in owned]
        counted = write_rows(connection, owned, carrier)
        write_failed_attempts(connection, batches, carrier)
        settlements = [_settlement_of(batch, wait, count) for batch, count in zip(owned, resent, strict=True)]
        close_intents(connection, settlements, counted)
        crashpoint("settle.before_commit")
    crashpoint("settle.committed")
    for batch in owned:
        batch.unrecorded.clear()
    for batch in batches:
        batch.failed.clear()
    record_lost(engine, batches)


def _settlement_of(batch: ClaimedBatch, wait: float, resent: int) -> Settlement:
    unsent, next_index, rest = batch.unsent(), batch.next_index, batch.retry[len(batch.indexes) :]
    if not batch.retry:
        next_index += len(batch.indexes)
        while unsent and unsent[-1] == next_index - 1:  # never reached: no need to list it in `retry`
            next_index = unsent.pop()
    tries = [*batch.again.values(), *batch.for_other_carriers.values()]
    at_once = not batch.again and not batch.attempts  # after the first failure another carrier may take it now
    return Settlement(
        batch_id=batch.batch_id,
        send_id=batch.send_id,
        account_id=batch.account_id,
        epoch=batch.epoch,
        lane=batch.lane,
        segments=batch.segments,
        price=batch.price,
        size=batch.size,
        next_index=next_index,
        retry=unsent + rest,
        tally=Counter(result.status for result in batch.results if result is not None),
        attempts=batch.attempts + max(tries) if tries else 0,
        resent=resent,
        wait=batch.wait or (wait if tries and not at_once else 0.0),
    )
