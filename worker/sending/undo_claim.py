"""Undoes a claim whose commit got no response: it may or may not have been committed.

The cycle has submitted none of its messages. Without this they would be in doubt once the lease is over.
"""

import logging
import time
from collections.abc import Sequence

from sqlalchemy import Engine, text

from shared.db.connection import UNAVAILABLE, array, transaction, uuids
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.settle_rest import SETTLE_SECONDS, close_intents, settlement_of

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5

LOCK = text(
    """
    SELECT b.id, b.state = 'sending' AND b.epoch = c.epoch AND b.lease_until = c.lease_until AS ours
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:lease_until AS timestamptz[]))
                        AS c (id, epoch, lease_until) ON b.id = c.id
     ORDER BY b.id FOR UPDATE OF b
    """
)
"""Waits for a commit that is still under way, and tells which batches the claim has. The epoch does not tell: if the
claim was rolled back, the next one has the same. But its lease ends later, by at least a microsecond."""


def undo_claim(engine: Engine, batches: Sequence[ClaimedBatch]) -> None:
    """Queue again what was claimed. While the database is unavailable, try for SETTLE_SECONDS."""
    parameters = {
        "id": uuids(batch.batch_id for batch in batches),
        "epoch": array(batch.epoch for batch in batches),
        "lease_until": array(batch.lease_until for batch in batches),
    }
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        try:
            with transaction(engine) as connection:
                ours = {row.id for row in connection.execute(LOCK, parameters) if row.ours}
                settlements = [settlement_of(batch, wait=0.0) for batch in batches if batch.batch_id in ours]
                close_intents(connection, settlements, counted={})
            return
        except UNAVAILABLE as error:
            if time.monotonic() > deadline:
                log.warning("a claim may not have been undone, and will be recovered when its lease expires: %s", error)
                return
            time.sleep(RETRY_SECONDS)
