"""Returns batches to the queue whose claim may or may not have been committed: its commit got no response.

The cycle has submitted none of their messages. Without this they would be in doubt once the lease is over.
"""

import time
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Engine, text

from shared.db.connection import UNAVAILABLE, array, reading, uuids
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.settle_rest import settle_rest

UNCLAIM_SECONDS, RETRY_SECONDS = 60.0, 0.5

COMMITTED = text(
    """
    SELECT b.id
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:lease_until AS timestamptz[]))
                        AS c (id, epoch, lease_until) ON b.id = c.id
     WHERE b.state = 'sending' AND b.epoch = c.epoch AND b.lease_until = c.lease_until
    """
)
"""The batches that the claim has. The epoch is not enough: if the claim was rolled back, the next one has the same, but
its lease ends later. Once a claim is known to be committed, its epoch is its own."""


def unclaim(engine: Engine, batches: Sequence[ClaimedBatch]) -> None:
    """Return those that were claimed to the queue. While the database is unavailable, try for UNCLAIM_SECONDS."""
    deadline = time.monotonic() + UNCLAIM_SECONDS
    while time.monotonic() < deadline:
        try:
            committed = _committed(engine, batches)
            settle_rest(engine, [batch for batch in batches if batch.batch_id in committed], carrier="", wait=0.0)
            return
        except UNAVAILABLE:
            time.sleep(RETRY_SECONDS)


def _committed(engine: Engine, batches: Sequence[ClaimedBatch]) -> set[UUID]:
    parameters = {
        "id": uuids(batch.batch_id for batch in batches),
        "epoch": array(batch.epoch for batch in batches),
        "lease_until": array(batch.lease_until for batch in batches),
    }
    with reading(engine) as connection:
        return set(connection.execute(COMMITTED, parameters).scalars())
